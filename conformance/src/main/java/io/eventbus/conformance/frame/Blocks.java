package io.eventbus.conformance.frame;

/** Ways to put the items of an array or a map into blocks; a receiver must read all of them. */
public enum Blocks {
  /** A single block, with its size in bytes. */
  SIZED,
  /** A single block, without its size. */
  COUNTED,
  /** A block for each item, with and without its size in turn. */
  EACH
}
