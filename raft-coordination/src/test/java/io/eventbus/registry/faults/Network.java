package io.eventbus.registry.faults;

import java.io.IOException;
import java.util.List;
import java.util.Set;

/** Network of the buses of a test: each has an address of its own, which is nobody else's. */
interface Network extends AutoCloseable {
  /** Returns the address of a bus, from 0. */
  String host(int bus);

  /** Returns the prefix of a command that runs in the bus's network. */
  List<String> prefix(int bus);

  /** Returns whether buses can be cut off. */
  boolean canPartition();

  /** Describes the network for people. */
  String describe();

  /** Splits the buses in two; each side hears nothing of the other one. */
  void split(Set<Integer> side) throws IOException, InterruptedException;

  /** Cuts two buses off from each other, while all others still hear both. */
  void cut(int first, int second) throws IOException, InterruptedException;

  /** Mends everything. */
  void heal() throws IOException, InterruptedException;

  @Override
  void close() throws IOException;
}
