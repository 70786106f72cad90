package io.eventbus.conformance.frame;

/** How the items of an array or a map are put into blocks; a receiver takes all of these. */
public enum Blocks {
  /** One block, with its size in bytes. */
  SIZED,
  /** One block, without its size. */
  COUNTED,
  /** A block for each item, with and without its size in turn. */
  EACH
}
