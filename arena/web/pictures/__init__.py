"""Draw positions and results as pictures: PNG for previews of links, GIF for replays.

A position is drawn from the same table rendering as on the pages, as SVG; resvg turns it into
pixels, and Pillow joins them to an animation.
"""
