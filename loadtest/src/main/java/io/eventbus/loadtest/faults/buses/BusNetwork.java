package io.eventbus.loadtest.faults.buses;

import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.DriverStopHook;
import io.eventbus.loadtest.driver.SystemCommand;
import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Network of buses: a namespace for each, and a bridge in one of its own. The load test has an
 * address on it, so that clients reach a bus that no other bus reaches. Packets from one bus to
 * another are lost while the sender has a wrong hardware address for the receiver: in silence, and
 * one direction alone can be lost. Needs root. For one thread, but for the hook that removes it
 * when the JVM ends.
 *
 * <p>Proxies cannot stand between buses: each announces one address to all others, and a proxy
 * there does not know which bus a connection comes from.
 */
public final class BusNetwork implements AutoCloseable {
  private static final List<String> PROGRAMS = List.of("ip", "nsenter");

  /** Reserved for measurements (RFC 2544), so used for nothing else on a machine. */
  private static final String NETWORK = "198.18.";

  private static final int SUBNETS = 256;
  private static final int CLIENTS = 254;

  /** Hardware address that nothing has; of those that anybody may choose. */
  private static final String NOBODY = "02:00:00:00:00:ff";

  private final String name;
  private final String subnet;
  private final List<String> spaces = new ArrayList<>();
  private final Set<Cut> cuts = new LinkedHashSet<>();
  private final DriverStopHook hook;

  /** Direction in which packets are lost. */
  private record Cut(int from, int to) {}

  private BusNetwork(int subnet) {
    // Names of interfaces have at most 15 characters, for all that run at once on a machine.
    this.name = "evb" + Long.toHexString(ProcessHandle.current().pid());
    this.subnet = NETWORK + subnet + ".";
    this.hook = DriverStopHook.add(name, this::remove);
  }

  /**
   * Returns what is missing for such a network here.
   *
   * @return the empty text if nothing is
   */
  public static String lacks() {
    return SystemCommand.lacks(PROGRAMS);
  }

  /**
   * Makes a network.
   *
   * @throws DriverException if that fails
   */
  static BusNetwork create(int buses) {
    BusNetwork network = new BusNetwork(freeSubnet());
    try {
      network.build(buses);
      return network;
    } catch (DriverException e) {
      network.close();
      throw e;
    }
  }

  private static int freeSubnet() {
    int first = ThreadLocalRandom.current().nextInt(SUBNETS);
    try {
      for (int i = 0; i < SUBNETS; i++) {
        int subnet = (first + i) % SUBNETS;
        InetAddress clients = InetAddress.getByName(NETWORK + subnet + "." + CLIENTS);
        if (NetworkInterface.getByInetAddress(clients) == null) {
          return subnet;
        }
      }
    } catch (IOException e) {
      throw new DriverException("the interfaces of this machine are not known", e);
    }
    throw new DriverException("no subnet of " + NETWORK + "0.0/16 is free (expected: one)");
  }

  private void build(int buses) {
    String hub = space("hub");
    ip("-n", hub, "link", "add", "bridge", "type", "bridge");
    ip("-n", hub, "link", "set", "bridge", "up");
    ip("link", "add", name, "type", "veth", "peer", "name", "clients", "netns", hub);
    attach(hub, "clients");
    ip("addr", "add", subnet + CLIENTS + "/24", "dev", name);
    ip("link", "set", name, "up");
    for (int i = 0; i < buses; i++) {
      String space = space(Integer.toString(i));
      String port = "to" + i;
      ip("-n", hub, "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", space);
      attach(hub, port);
      ip("-n", space, "link", "set", "lo", "up");
      ip("-n", space, "addr", "add", host(i) + "/24", "dev", "eth0");
      ip("-n", space, "link", "set", "eth0", "up");
    }
  }

  private String space(String suffix) {
    String space = name + "-" + suffix;
    ip("netns", "add", space);
    spaces.add(space);
    return space;
  }

  private static void attach(String hub, String port) {
    ip("-n", hub, "link", "set", port, "master", "bridge");
    ip("-n", hub, "link", "set", port, "up");
  }

  private static void ip(String... arguments) {
    List<String> command = new ArrayList<>(List.of(SystemCommand.program("ip")));
    command.addAll(List.of(arguments));
    SystemCommand.run(command.toArray(String[]::new));
  }

  /** Returns the address of a bus, by its number from 0. */
  String host(int bus) {
    return subnet + (bus + 1);
  }

  /** Returns the command that starts a program as a bus, without mounts of its own. */
  List<String> prefix(int bus) {
    return List.of(SystemCommand.program("nsenter"), "--net=/run/netns/" + name + "-" + bus);
  }

  /** Loses all packets from one bus to another, until {@link #heal}. */
  void cut(int from, int to) {
    if (cuts.add(new Cut(from, to))) {
      neighbour(new Cut(from, to), "replace", "lladdr", NOBODY, "nud", "permanent");
    }
  }

  /** Loses nothing any more. */
  void heal() {
    cuts.forEach(cut -> neighbour(cut, "del"));
    cuts.clear();
  }

  private void neighbour(Cut cut, String action, String... address) {
    List<String> arguments =
        new ArrayList<>(List.of("-n", name + "-" + cut.from(), "neigh", action, host(cut.to())));
    arguments.addAll(List.of(address));
    arguments.addAll(List.of("dev", "eth0"));
    ip(arguments.toArray(String[]::new));
  }

  private synchronized void remove() {
    // An interface ends with the namespace of its peer.
    spaces.forEach(space -> ip("netns", "del", space));
    spaces.clear();
  }

  /** Removes it. */
  @Override
  public void close() {
    hook.close();
    remove();
  }
}
