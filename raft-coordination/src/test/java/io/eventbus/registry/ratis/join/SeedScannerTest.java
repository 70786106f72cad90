package io.eventbus.registry.ratis.join;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.link.LinkIdentity;
import io.eventbus.link.LinkNode;
import io.eventbus.link.LinkOptions;
import io.eventbus.link.LinkSecurity;
import io.eventbus.raft.members.PeerBook;
import io.eventbus.registry.BusId;
import io.eventbus.registry.Endpoint;
import io.eventbus.registry.ratis.forward.Services;
import io.eventbus.registry.ratis.join.JoinMessages.MemberStatus;
import io.eventbus.testing.TestPorts;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Reaction of a bus to the answers that it gets. */
@Timeout(240)
class SeedScannerTest {
  private static final UUID CLUSTER = UUID.fromString("00000000-0000-4000-8000-000000000001");
  private static final UUID OTHER = UUID.fromString("00000000-0000-4000-8000-000000000002");

  private final List<LinkNode> nodes = new ArrayList<>();
  private final List<Endpoint> seeds = new ArrayList<>();
  private final LinkNode self = node("m", "");
  private final BootstrapElection election =
      new BootstrapElection(new BusId("m"), self.identity().instance(), null);

  @AfterEach
  void close() {
    nodes.forEach(LinkNode::close);
  }

  private LinkNode node(String bus, String cluster) {
    LinkNode node =
        new LinkNode(
            // No test waits for one of them; a busy machine needs longer than the bus allows.
            LinkOptions.DEFAULT.withTimes(
                Duration.ofSeconds(60), Duration.ofSeconds(30), Duration.ofSeconds(90)),
            new LinkIdentity(bus, cluster),
            LinkSecurity.none());
    nodes.add(node);
    return node;
  }

  private Endpoint other(
      String bus, String cluster, Function<JoinMessages.Question, JoinMessages.Answer> answers)
      throws Exception {
    LinkNode node = node(bus, cluster);
    node.offer(
        Services.PROBE,
        (peer, request) ->
            CompletableFuture.completedFuture(
                answers.apply(JoinMessages.Question.decode(request)).encode()));
    int port = node.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)).getPort();
    Endpoint address = new Endpoint("127.0.0.1", port);
    seeds.add(address);
    return address;
  }

  private Endpoint other(String bus, MemberStatus status, String cluster) throws Exception {
    return other(
        bus, cluster, question -> new JoinMessages.Answer(new BusId(bus), 1, status, cluster));
  }

  private SeedScanner scanner() {
    JoinAdmission.Joiner joiner =
        new JoinAdmission.Joiner(new BusId("m"), new Endpoint("127.0.0.1", 1));
    return new SeedScanner(
        self, new PeerBook(), joiner, () -> seeds, election, Duration.ofSeconds(60));
  }

  private SeedScanner.Outcome scan() throws Exception {
    return scanner().scan();
  }

  @Test
  void withNobodyToLookForItFounds() throws Exception {
    assertThat(scan()).isEqualTo(new SeedScanner.Outcome(null, true, ""));
  }

  @Test
  void aClusterIsJoinedAlsoWhenOthersAreMissing() throws Exception {
    Endpoint member = other("z", MemberStatus.MEMBER, CLUSTER.toString());
    seeds.add(new Endpoint("127.0.0.1", TestPorts.find()));
    SeedScanner scanner = scanner();
    assertThat(scanner.scan().cluster()).isEqualTo(CLUSTER);
    assertThat(scanner.members())
        .containsExactly(new InetSocketAddress(InetAddress.getLoopbackAddress(), member.port()));
  }

  @Test
  void twoClustersAreRefused() throws Exception {
    other("y", MemberStatus.MEMBER, CLUSTER.toString());
    other("z", MemberStatus.MEMBER, OTHER.toString());
    assertThatThrownBy(this::scan)
        .hasMessageContaining("different clusters")
        .hasMessageEndingWith("(expected: one)");
  }

  @Test
  void waitsForASeedThatDoesNotAnswer() throws Exception {
    other("z", MemberStatus.FRESH, "");
    seeds.add(new Endpoint("127.0.0.1", TestPorts.find()));
    SeedScanner.Outcome outcome = scan();
    assertThat(outcome.found()).isFalse();
    assertThat(outcome.missing()).startsWith("an answer from 127.0.0.1:");
  }

  @Test
  void leavesTheFoundingToALowerId() throws Exception {
    other("a", MemberStatus.FRESH, "");
    assertThat(scan())
        .isEqualTo(new SeedScanner.Outcome(null, false, "bus a to found the cluster"));
  }

  @Test
  void waitsForABusThatWaitsItself() throws Exception {
    other("z", MemberStatus.WAITING, "");
    assertThat(scan())
        .isEqualTo(new SeedScanner.Outcome(null, false, "bus z, which waits for others itself"));
  }

  @Test
  void foundsWhenAllTheOthersPromise() throws Exception {
    for (String bus : List.of("x", "y")) {
      BootstrapElection theirs = new BootstrapElection(new BusId(bus), 1, null);
      other(bus, "", theirs::answer);
    }
    assertThat(scan().found()).isTrue();
    assertThat(election.hasPromised()).isFalse();
  }

  @Test
  void doesNotFoundWithoutAllPromisesNorAfterItsOwn() throws Exception {
    other("x", "", new BootstrapElection(new BusId("x"), 1, null)::answer);
    Endpoint stubborn = other("y", MemberStatus.FRESH, "");
    assertThat(scan())
        .isEqualTo(new SeedScanner.Outcome(null, false, "bus y to leave the founding to this one"));
    seeds.remove(stubborn);
    election.answer(
        new JoinMessages.Question(
            new BusId("a"),
            1,
            new Endpoint("127.0.0.1", seeds.get(0).port()),
            JoinMessages.JoinIntent.PROMISE));
    assertThat(scan().found()).isFalse();
  }

  @Test
  void anotherProcessOfItsNameIsRefused() throws Exception {
    other("m", MemberStatus.FRESH, "");
    assertThatThrownBy(this::scan).hasMessageContaining("bus id: m is used by the bus at");
  }

  @Test
  void looksForAnInvitingBusToo() throws Exception {
    Endpoint inviting = other("z", MemberStatus.MEMBER, CLUSTER.toString());
    seeds.clear();
    election.answer(
        new JoinMessages.Question(new BusId("z"), 1, inviting, JoinMessages.JoinIntent.INVITATION));
    assertThat(scan().cluster()).isEqualTo(CLUSTER);
  }
}
