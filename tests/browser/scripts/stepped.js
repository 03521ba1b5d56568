(steps) => {
  const slider = document.getElementById("step");
  const heights = new Set();
  const stride = Math.ceil(Number(slider.max) / steps);
  for (let step = 0; step <= Number(slider.max); step += stride) {
    slider.value = step;
    slider.dispatchEvent(new Event("input"));
    const [felt, panel] = [".felt", ".control-panel"].map((name) => document.querySelector(name));
    heights.add(`${panel.offsetHeight} ${felt.offsetHeight}`);
  }
  const frame = document.getElementById("fitted");
  return {
    heights: [...heights],
    below: frame.offsetHeight + document.querySelector(".control-panel").offsetHeight - innerHeight,
    beside: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  };
}
