// Shows notifications about the bots and tournaments that this browser follows, while a page of the
// arena is open. It reads their Atom feeds. What is followed stays in this browser.
"use strict";

(() => {
  const KEY = "follow", CHECKED = "follow-checked";
  const SECONDS = 30, MOST = 20;
  const button = document.querySelector("button[data-follow]");

  // By the address of the feed: { name, seen: ids of its entries }.
  function followed() {
    try {
      return JSON.parse(localStorage.getItem(KEY)) ?? {};
    } catch {
      return {};
    }
  }

  function keep(value) {
    localStorage.setItem(KEY, JSON.stringify(value));
  }

  async function entries(feed) {
    const response = await fetch(feed);
    if (!response.ok) return [];
    const document = new DOMParser().parseFromString(await response.text(), "application/xml");
    return Array.from(document.querySelectorAll("entry"), (entry) => ({
      id: entry.querySelector("id").textContent,
      title: entry.querySelector("title").textContent,
      summary: entry.querySelector("summary").textContent,
      link: new URL(entry.querySelector("link").getAttribute("href"), location.href),
    }));
  }

  function announce(feed, name, fresh) {
    const [newest] = fresh;
    const others = fresh.length - 1;
    const notification = new Notification(newest.title, {
      body: others ? `${newest.summary}. ${name}: ${others} more` : newest.summary,
      // A later notification about the same bot or tournament replaces this one.
      tag: feed,
      icon: document.querySelector("link[rel=icon]").href,
    });
    notification.onclick = () => {
      window.focus();
      // Links name the public address of the arena, which need not be the address of this page.
      location.assign(newest.link.pathname);
    };
  }

  async function check(feed, name) {
    const found = await entries(feed);
    if (!found.length) return;
    const now = followed();
    if (!(feed in now)) return;
    const known = new Set(now[feed].seen);
    const fresh = found.filter((entry) => !known.has(entry.id));
    if (!fresh.length) return;
    now[feed].seen = found.map((entry) => entry.id);
    keep(now);
    if (known.size) announce(feed, name, fresh);
  }

  async function checkAll() {
    // One tab of several checks, and the others leave it alone for a while.
    if (Date.now() - Number(localStorage.getItem(CHECKED)) < SECONDS * 900) return;
    localStorage.setItem(CHECKED, String(Date.now()));
    for (const [feed, { name }] of Object.entries(followed())) {
      try {
        await check(feed, name);
      } catch {
        // The server does not answer, or this browser shows notifications from service workers only.
      }
    }
  }

  function showButton() {
    const isOn = button.dataset.follow in followed();
    const isBlocked = Notification.permission === "denied";
    button.hidden = false;
    button.disabled = isBlocked && !isOn;
    button.setAttribute("aria-pressed", String(isOn));
    button.textContent = button.disabled ? "Notifications are blocked" : isOn ? "Notifications on" : "Notify me";
  }

  async function toggle() {
    const { follow: feed, name } = button.dataset;
    const now = followed();
    if (feed in now) {
      delete now[feed];
    } else if (await Notification.requestPermission() === "granted") {
      const found = await entries(feed);
      const kept = Object.entries(followed()).slice(1 - MOST);
      keep(Object.fromEntries([...kept, [feed, { name, seen: found.map((entry) => entry.id) }]]));
      showButton();
      return;
    }
    keep(now);
    showButton();
  }

  // Browsers offer notifications only to pages over HTTPS and of this machine.
  if (!("Notification" in window)) return;
  if (button) {
    button.addEventListener("click", toggle);
    addEventListener("storage", showButton);
    showButton();
  }
  function checkIfAllowed() {
    if (Notification.permission === "granted" && Object.keys(followed()).length) checkAll();
  }
  checkIfAllowed();
  setInterval(checkIfAllowed, SECONDS * 1000);
})();
