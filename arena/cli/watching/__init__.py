"""`pokearena watch`: the pages in the terminal.

view      where somebody is, and where a key leads: values, no terminal
shown     what a view shows: the tables of the same pages that browsers get
screen    draws it, and reads keys, until `q`
"""
