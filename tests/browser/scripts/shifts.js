window.shifted = 0;
new PerformanceObserver((list) => {
  for (const shift of list.getEntries()) window.shifted += shift.value;
}).observe({ type: "layout-shift", buffered: true });
