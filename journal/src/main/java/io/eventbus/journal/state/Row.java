package io.eventbus.journal.state;

/** Row whose value is kept decoded. Confined to the thread that applies entries. */
interface Row {
  /** Returns the value as it is stored. */
  byte[] encode();

  /** Returns about how many bytes the object takes in memory. */
  int memoryBytes();
}
