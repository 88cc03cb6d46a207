"""azsim, a simulated Azure; README.md says what it is and how to ask it."""
