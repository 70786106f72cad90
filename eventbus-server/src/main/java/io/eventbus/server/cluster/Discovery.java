package io.eventbus.server.cluster;

import io.eventbus.registry.Endpoint;
import io.eventbus.server.config.DiscoveryConfig;
import io.eventbus.server.config.HostPort;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.MulticastSocket;
import java.net.NetworkInterface;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Search for other buses on the local network: every bus announces itself to a multicast group,
 * often while it looks for a cluster, seldom when it belongs to one, and at once when it hears of
 * one that looks. The thread "cluster-discovery" does all of it; any thread may read the result.
 */
final class Discovery implements AutoCloseable {
  /** Time that a fresh bus listens before it may conclude that it is alone. */
  static final Duration SETTLED = Duration.ofSeconds(2);

  private static final Logger LOG = LoggerFactory.getLogger(Discovery.class);

  private static final int LOOKING_MILLIS = 250;
  private static final int MEMBER_MILLIS = 5_000;
  private static final Duration MEMORY = Duration.ofSeconds(15);
  private static final int LOOKING_MEMORY_MILLIS = 1_500;

  /** Maximum of announcements in a second that are read: each costs a keyed checksum. */
  private static final int MAX_EACH_SECOND = 1_000;

  private final MulticastSocket socket;
  private final InetSocketAddress group;
  private final Announcement.Self self;
  private final byte @Nullable [] secret;
  private final DiscoveredBuses members = new DiscoveredBuses(MEMORY.toNanos());
  private final DiscoveredBuses looking =
      new DiscoveredBuses(TimeUnit.MILLISECONDS.toNanos(LOOKING_MEMORY_MILLIS));
  private final long startedNanos = System.nanoTime();
  private final Thread thread = new Thread(this::run, "cluster-discovery");
  private final Supplier<String> clusterId;
  private volatile boolean closed;

  // The thread's own:
  private long nextNanos = System.nanoTime();
  private long lastSentNanos = nextNanos - TimeUnit.SECONDS.toNanos(1);
  private long windowNanos = nextNanos;
  private int inWindow;
  private long warnedNanos = nextNanos - TimeUnit.MINUTES.toNanos(1);

  private Discovery(
      MulticastSocket socket,
      InetSocketAddress group,
      Announcement.Self self,
      Supplier<String> clusterId,
      byte @Nullable [] secret) {
    this.clusterId = clusterId;
    this.socket = socket;
    this.group = group;
    this.self = self;
    this.secret = secret;
  }

  /**
   * Opens the socket and begins.
   *
   * @param clusterId supplies the cluster's number; empty as long as this bus belongs to none
   */
  static Discovery start(
      DiscoveryConfig config,
      Announcement.Self self,
      Supplier<String> clusterId,
      byte @Nullable [] secret)
      throws IOException {
    InetAddress address = InetAddress.getByName(config.group());
    if (!address.isMulticastAddress()) {
      throw new IOException(
          "cluster.discovery-group: "
              + config.group()
              + " (expected: the address of a multicast group, such as 239.255.80.82)");
    }
    InetSocketAddress group = new InetSocketAddress(address, config.port());
    NetworkInterface on = networkInterface(config.networkInterface(), self.address());
    if (!on.isLoopback() && new HostPort(self.address().host(), 0).isLoopback()) {
      throw new IOException(
          "cluster.discovery-interface: "
              + on.getName()
              + " (expected: the loopback interface, because others cannot reach "
              + self.address()
              + "; set cluster.secret or cluster.tls-certificate, or cluster.advertised)");
    }
    MulticastSocket socket = new MulticastSocket(null);
    try {
      // Several buses of one machine share the port.
      socket.setReuseAddress(true);
      socket.bind(new InetSocketAddress(config.port()));
      socket.setOption(StandardSocketOptions.IP_MULTICAST_IF, on);
      socket.setOption(StandardSocketOptions.IP_MULTICAST_TTL, 1);
      socket.joinGroup(group, on);
    } catch (IOException e) {
      socket.close();
      throw new IOException(
          "cluster.discover: cannot use the group " + group + " on " + on.getName() + ": " + e, e);
    }
    Discovery discovery = new Discovery(socket, group, self, clusterId, secret);
    discovery.thread.setDaemon(true);
    discovery.thread.start();
    LOG.info("Looks for other buses in the multicast group {} on {}", group, on.getName());
    return discovery;
  }

  private static NetworkInterface networkInterface(@Nullable String named, Endpoint advertised)
      throws IOException {
    NetworkInterface found = named == null ? null : NetworkInterface.getByName(named);
    if (found == null) {
      String address = named == null ? advertised.host() : named;
      found = NetworkInterface.getByInetAddress(InetAddress.getByName(address));
    }
    if (found == null) {
      throw new IOException(
          "cluster.discovery-interface: "
              + (named == null ? "none has the address " + advertised.host() : '"' + named + '"')
              + " (expected: the name or an address of an interface of this machine)");
    }
    return found;
  }

  /** Returns the addresses of members; or, if none was heard of, of others that look. */
  List<Endpoint> addresses() {
    long now = System.nanoTime();
    List<Endpoint> found = members.addresses(now);
    return found.isEmpty() ? looking.addresses(now) : found;
  }

  /** Returns whether this bus has listened for long enough to know the other buses. */
  boolean isSettled() {
    return System.nanoTime() - startedNanos >= SETTLED.toNanos();
  }

  private void run() {
    byte[] buffer = new byte[Announcement.MAX_BYTES];
    while (!closed) {
      try {
        announceIfDue();
        long wait = nextNanos - System.nanoTime();
        socket.setSoTimeout((int) Math.max(1, TimeUnit.NANOSECONDS.toMillis(wait)));
        DatagramPacket packet = new DatagramPacket(buffer, buffer.length);
        socket.receive(packet);
        if (isAdmitted()) {
          hear(Announcement.decode(buffer, packet.getLength(), secret));
        }
      } catch (SocketTimeoutException e) {
        // The next announcement is due.
      } catch (IOException e) {
        pauseAfter(e);
      }
    }
  }

  /** Pauses after an error: the network may be away for a while. */
  private void pauseAfter(IOException error) {
    if (closed) {
      return;
    }
    LOG.debug("The search on the local network failed", error);
    nextNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(LOOKING_MILLIS);
    try {
      TimeUnit.MILLISECONDS.sleep(LOOKING_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      closed = true;
    }
  }

  private void announceIfDue() throws IOException {
    long now = System.nanoTime();
    if (now - nextNanos < 0) {
      return;
    }
    String cluster = clusterId.get();
    byte[] bytes = self.announce(cluster).encode(secret);
    int pause = cluster.isEmpty() ? LOOKING_MILLIS : MEMBER_MILLIS;
    nextNanos = now + TimeUnit.MILLISECONDS.toNanos(pause);
    lastSentNanos = now;
    socket.send(new DatagramPacket(bytes, bytes.length, group));
  }

  private boolean isAdmitted() {
    long now = System.nanoTime();
    if (now - windowNanos > TimeUnit.SECONDS.toNanos(1)) {
      windowNanos = now;
      inWindow = 0;
    }
    return ++inWindow <= MAX_EACH_SECOND;
  }

  private void hear(@Nullable Announcement said) {
    if (said == null
        || said.instance() == self.instance()
        || !said.cluster().equals(self.cluster())) {
      return;
    }
    long now = System.nanoTime();
    if (!said.clusterId().isEmpty()) {
      members.heard(said, now);
      warnOfTwo(said, now);
      return;
    }
    looking.heard(said, now);
    if (!clusterId.get().isEmpty()
        && now - lastSentNanos > TimeUnit.MILLISECONDS.toNanos(LOOKING_MILLIS)) {
      nextNanos = now;
    }
  }

  private void warnOfTwo(Announcement said, long now) {
    String mine = clusterId.get();
    if (!mine.isEmpty()
        && !said.clusterId().equals(mine)
        && now - warnedNanos > TimeUnit.MINUTES.toNanos(1)) {
      warnedNanos = now;
      LOG.warn(
          "There are two clusters of the name {} on this network: bus {} at {} belongs to {}, this"
              + " one to {}",
          self.cluster(),
          said.bus(),
          said.address(),
          said.clusterId(),
          mine);
    }
  }

  @Override
  public void close() {
    closed = true;
    socket.close();
  }
}
