window.slides = 0;
const animate = Element.prototype.animate;
Element.prototype.animate = function (frames, options) {
  if (this.matches("[data-key]")) window.slides += 1;
  return animate.call(this, frames, options);
};
