window.shown = [];
const Original = Notification;
window.Notification = class extends Original {
  constructor(title, options) { super(title, options); window.shown.push([title, options.tag]); }
};
