package io.eventbus.registry.faults;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Network namespace for each bus, and one with two bridges between them. A bus is on one bridge or
 * on the other, so a partition is a move of cables: packets under way are lost, and nobody is told.
 * Two buses alone are cut off by routes that lead nowhere. Nothing of the machine's own network is
 * touched. Needs root and the command {@code ip}.
 */
final class NamespaceNetwork implements Network {
  private final String name;
  private final int buses;

  private NamespaceNetwork(String name, int buses) {
    this.name = name;
    this.buses = buses;
  }

  /** Creates the network, or returns null if that is not possible. */
  static @Nullable NamespaceNetwork create(int buses, Random random)
      throws IOException, InterruptedException {
    NamespaceNetwork network =
        new NamespaceNetwork("evb" + Integer.toHexString(random.nextInt(1 << 28)), buses);
    try {
      network.build();
      return network;
    } catch (IOException e) {
      network.close();
      return null;
    }
  }

  private void build() throws IOException, InterruptedException {
    ip("netns", "add", hub());
    for (String bridge : List.of("left", "right")) {
      ip("-n", hub(), "link", "add", bridge, "type", "bridge");
      ip("-n", hub(), "link", "set", bridge, "up");
    }
    for (int i = 0; i < buses; i++) {
      ip("netns", "add", space(i));
      ip(
          "-n", hub(), "link", "add", "to" + i, "type", "veth", "peer", "name", "eth0", "netns",
          space(i));
      ip("-n", hub(), "link", "set", "to" + i, "master", "left");
      ip("-n", hub(), "link", "set", "to" + i, "up");
      ip("-n", space(i), "link", "set", "lo", "up");
      ip("-n", space(i), "addr", "add", host(i) + "/24", "dev", "eth0");
      ip("-n", space(i), "link", "set", "eth0", "up");
    }
  }

  private String hub() {
    return name + "-hub";
  }

  private String space(int bus) {
    return name + "-" + bus;
  }

  private static void ip(String... arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("ip"));
    command.addAll(List.of(arguments));
    Shell.run(command);
  }

  @Override
  public String host(int bus) {
    return "10.77.0." + (bus + 1);
  }

  @Override
  public List<String> prefix(int bus) {
    return List.of("ip", "netns", "exec", space(bus));
  }

  @Override
  public boolean canPartition() {
    return true;
  }

  @Override
  public String describe() {
    return "a network namespace for each bus";
  }

  @Override
  public void split(Set<Integer> side) throws IOException, InterruptedException {
    for (int i = 0; i < buses; i++) {
      String bridge = side.contains(i) ? "right" : "left";
      ip("-n", hub(), "link", "set", "to" + i, "master", bridge);
    }
  }

  @Override
  public void cut(int first, int second) throws IOException, InterruptedException {
    ip("-n", space(first), "route", "replace", "blackhole", host(second) + "/32");
    ip("-n", space(second), "route", "replace", "blackhole", host(first) + "/32");
  }

  @Override
  public void heal() throws IOException, InterruptedException {
    split(Set.of());
    for (int i = 0; i < buses; i++) {
      ip("-n", space(i), "route", "flush", "type", "blackhole");
    }
  }

  @Override
  public void close() throws IOException {
    List<String> spaces = new ArrayList<>(List.of(hub()));
    for (int i = 0; i < buses; i++) {
      spaces.add(space(i));
    }
    for (String space : spaces) {
      try {
        ip("netns", "del", space);
      } catch (IOException e) {
        // The network was not made, or is gone; the next one may be there.
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new InterruptedIOException("interrupted while " + space + " was removed");
      }
    }
  }
}
