package io.eventbus.registry.faults;

import java.util.List;
import java.util.Random;
import java.util.Set;

/**
 * Addresses in 127/8, chosen by chance: all of them lead to this machine, so no other process has a
 * port there, and a bus that is started again gets the port that it had. Nothing can be cut off.
 */
final class LoopbackNetwork implements Network {
  private final String prefix;

  LoopbackNetwork(Random random) {
    this.prefix = "127." + (1 + random.nextInt(254)) + "." + random.nextInt(256) + ".";
  }

  @Override
  public String host(int bus) {
    return prefix + (bus + 1);
  }

  @Override
  public List<String> prefix(int bus) {
    return List.of();
  }

  @Override
  public boolean canPartition() {
    return false;
  }

  @Override
  public String describe() {
    return "loopback; partitions SKIPPED (they need root and the command ip)";
  }

  @Override
  public void split(Set<Integer> side) {
    throw new UnsupportedOperationException("loopback cannot be split");
  }

  @Override
  public void cut(int first, int second) {
    throw new UnsupportedOperationException("loopback cannot be cut");
  }

  @Override
  public void heal() {}

  @Override
  public void close() {}
}
