() => document.getAnimations().map((animation) => {
  const element = animation.effect.target;
  if (element.closest(".moving-copies")) return "copy";
  return element.closest(".layout") ? "layout" : "hand";
})
