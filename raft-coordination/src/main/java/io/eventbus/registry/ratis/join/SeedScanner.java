package io.eventbus.registry.ratis.join;

import io.eventbus.link.LinkException;
import io.eventbus.link.LinkNode;
import io.eventbus.raft.members.PeerBook;
import io.eventbus.registry.BusId;
import io.eventbus.registry.Endpoint;
import io.eventbus.registry.ratis.forward.LeaderRetry;
import io.eventbus.registry.ratis.forward.Services;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Scanner for other buses at the addresses of the seeds, on a thread that may wait. */
public final class SeedScanner {
  private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(2);

  /**
   * Decision for a bus.
   *
   * @param cluster the cluster to join; null if none was found
   * @param found true if this bus is to found one
   */
  record Outcome(@Nullable UUID cluster, boolean found, String missing) {}

  private record Reply(InetSocketAddress address, JoinMessages.Answer answer) {}

  private final LinkNode links;
  private final PeerBook peers;
  private final JoinAdmission.Joiner self;
  private final SeedSource source;
  private final BootstrapElection election;
  private final Duration timeout;

  /** Addresses of members at the last look. */
  private volatile List<InetSocketAddress> members = List.of();

  /** Creates a scanner that has not looked yet. */
  public SeedScanner(
      LinkNode links,
      PeerBook peers,
      JoinAdmission.Joiner self,
      SeedSource source,
      BootstrapElection election) {
    this(links, peers, self, source, election, ANSWER_TIMEOUT);
  }

  SeedScanner(
      LinkNode links,
      PeerBook peers,
      JoinAdmission.Joiner self,
      SeedSource source,
      BootstrapElection election,
      Duration timeout) {
    this.links = links;
    this.peers = peers;
    this.self = self;
    this.source = source;
    this.election = election;
    this.timeout = timeout;
  }

  /** Returns whether there are no seeds. */
  boolean hasNone() {
    return source.seeds().isEmpty() && election.askers().isEmpty();
  }

  List<InetSocketAddress> members() {
    return members;
  }

  /**
   * Looks once.
   *
   * @throws IOException if this bus must not become a member of what it found
   */
  Outcome scan() throws IOException, InterruptedException {
    Set<InetSocketAddress> targets = new LinkedHashSet<>();
    List<String> missing = new ArrayList<>();
    for (Endpoint seed : source.seeds()) {
      resolve(seed, targets, missing);
    }
    for (Endpoint asker : election.askers()) {
      resolve(asker, targets, new ArrayList<>());
    }
    List<Reply> others = ask(targets, JoinMessages.JoinIntent.NONE, missing);
    UUID cluster = onlyCluster(others);
    if (cluster != null) {
      return new Outcome(cluster, false, "");
    }
    if (!missing.isEmpty()) {
      return new Outcome(null, false, String.join("; ", missing));
    }
    for (Reply other : others) {
      BusId bus = other.answer().bus();
      if (bus.compareTo(self.bus()) < 0) {
        return new Outcome(null, false, "bus " + bus + " to found the cluster");
      }
      if (other.answer().status() == JoinMessages.MemberStatus.WAITING) {
        return new Outcome(null, false, "bus " + bus + ", which waits for others itself");
      }
    }
    String more = source.missing(1 + others.size());
    return more == null ? found(others) : new Outcome(null, false, more);
  }

  private Outcome found(List<Reply> others) throws IOException, InterruptedException {
    Set<InetSocketAddress> targets = new LinkedHashSet<>();
    others.forEach(other -> targets.add(other.address()));
    List<String> missing = new ArrayList<>();
    for (Reply reply : ask(targets, JoinMessages.JoinIntent.PROMISE, missing)) {
      if (reply.answer().status() != JoinMessages.MemberStatus.PROMISED) {
        missing.add("bus " + reply.answer().bus() + " to leave the founding to this one");
      }
    }
    boolean mayFound = missing.isEmpty() && election.beginFounding();
    return new Outcome(null, mayFound, String.join("; ", missing));
  }

  private @Nullable UUID onlyCluster(List<Reply> others) throws IOException {
    UUID cluster = null;
    List<InetSocketAddress> found = new ArrayList<>();
    for (Reply other : others) {
      if (other.answer().status() != JoinMessages.MemberStatus.MEMBER) {
        continue;
      }
      UUID theirs = UUID.fromString(other.answer().cluster());
      if (cluster != null && !cluster.equals(theirs)) {
        throw new IOException(
            "the seeds belong to different clusters: "
                + cluster
                + " and "
                + theirs
                + " (expected: one)");
      }
      cluster = theirs;
      found.add(other.address());
    }
    members = List.copyOf(found);
    return cluster;
  }

  private List<Reply> ask(
      Set<InetSocketAddress> targets, JoinMessages.JoinIntent intent, List<String> missing)
      throws IOException, InterruptedException {
    byte[] question =
        new JoinMessages.Question(
                self.bus(), links.identity().instance(), self.advertised(), intent)
            .encode();
    List<CompletableFuture<byte[]>> asked = new ArrayList<>();
    for (InetSocketAddress target : targets) {
      asked.add(links.call(target, Services.COMMANDS, Services.PROBE, question, timeout));
    }
    List<Reply> replies = new ArrayList<>();
    int i = 0;
    for (InetSocketAddress target : targets) {
      try {
        byte[] bytes = asked.get(i++).get(2 * timeout.toMillis(), TimeUnit.MILLISECONDS);
        add(replies, new Reply(target, JoinMessages.Answer.decode(bytes)));
      } catch (ExecutionException e) {
        checkRefusal(target, LeaderRetry.unwrap(e.getCause()));
        String why = LeaderRetry.unwrap(e.getCause()).getMessage();
        missing.add("an answer from " + shown(target) + " (" + why + ")");
      } catch (TimeoutException e) {
        missing.add("an answer from " + shown(target));
      }
    }
    return replies;
  }

  private void add(List<Reply> replies, Reply reply) throws IOException {
    JoinMessages.Answer answer = reply.answer();
    if (answer.bus().equals(self.bus())) {
      if (answer.instance() != links.identity().instance()) {
        throw new IOException(
            "bus id: " + self.bus() + " is used by the bus at " + reply.address() + " too");
      }
      return;
    }
    peers.learn(answer.bus().value(), reply.address());
    replies.add(reply);
  }

  /** Throws if the refusal is one that no waiting mends. */
  private static void checkRefusal(InetSocketAddress target, Throwable error) throws IOException {
    if (error instanceof LinkException link
        && link.refusal() != null
        && !link.refusal().isRetryable()) {
      throw new IOException("the bus at " + target + " refuses this one: " + link.getMessage());
    }
  }

  /** Returns the address as configured, with the address that the name resolves to. */
  private static String shown(InetSocketAddress target) {
    String host = target.getHostString();
    String address = target.isUnresolved() ? host : target.getAddress().getHostAddress();
    String name = host.equals(address) ? "" : host + " at ";
    return name + new Endpoint(address, target.getPort());
  }

  private static void resolve(Endpoint seed, Set<InetSocketAddress> targets, List<String> missing) {
    try {
      for (InetAddress address : InetAddress.getAllByName(seed.host())) {
        targets.add(new InetSocketAddress(address, seed.port()));
      }
    } catch (UnknownHostException e) {
      missing.add("an address of " + seed.host() + ", a name that is not known");
    }
  }
}
