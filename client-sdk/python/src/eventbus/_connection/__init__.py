"""The client without I/O or a clock: connects, reconnects, moves between buses, and wires the other parts."""
