"""A game without chance and cards whose positions cannot be made from views."""
