// The stream of a page's changed parts. A browser opens a lost connection again, but not one that the
// server has refused, and it cannot notice that a connection has become useless.
"use strict";

const REFUSED_SECONDS = 30;

// Calls `show` with each event. A stream that is silent for `silentSeconds` is opened again: its
// first event has what differs from the last one.
function followParts(address, show, { silentSeconds = Infinity, onError = () => {} } = {}) {
  let source = null, shown = "", received = 0;

  function open() {
    source?.close();
    received = Date.now();
    const target = new URL(address, location.href);
    if (shown) target.searchParams.set("shown", shown);
    source = new EventSource(target);
    source.addEventListener("parts", (event) => {
      received = Date.now();
      shown = event.lastEventId;
      show(JSON.parse(event.data));
    });
    source.addEventListener("error", onError);
  }

  open();
  setInterval(() => {
    const isRefused = source.readyState === EventSource.CLOSED;
    const most = isRefused ? Math.min(REFUSED_SECONDS, silentSeconds) : silentSeconds;
    if (Date.now() - received > 1000 * most) open();
  }, 5000);
}
