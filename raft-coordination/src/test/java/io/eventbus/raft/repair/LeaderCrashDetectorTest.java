package io.eventbus.raft.repair;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.link.LinkIdentity;
import io.eventbus.link.LinkNode;
import io.eventbus.link.LinkOptions;
import io.eventbus.link.LinkPeer;
import io.eventbus.link.LinkSecurity;
import io.eventbus.raft.members.PeerBook;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(240)
class LeaderCrashDetectorTest {
  private static final String RAFT = "raft";
  private static final int HEARTBEAT = 150;

  /** Event loop and timers: on this thread, and time passes as the test says. */
  private final EmbeddedChannel clock = new EmbeddedChannel();

  private final Raft raft = new Raft();
  private final Links links = new Links();
  private final LeaderCrashDetector detector = of("a");
  private long nowMillis;

  private static final class Raft implements LeaderCrashDetector.Raft {
    private final List<String> stood = new ArrayList<>();
    private @Nullable String leader = "b";
    private List<String> voters = List.of("a", "b", "c");
    private long silenceMillis = Long.MAX_VALUE;

    @Override
    public @Nullable String leader() {
      return leader;
    }

    @Override
    public List<String> voters() {
      return voters;
    }

    @Override
    public long leaderSilenceMillis() {
      return silenceMillis;
    }

    @Override
    public CompletableFuture<Boolean> standForElection(String of) {
      stood.add(of);
      return CompletableFuture.completedFuture(true);
    }
  }

  private static final class Links implements LeaderCrashDetector.Links {
    private final List<Consumer<LinkPeer>> watchers = new ArrayList<>();
    private int probes;
    private boolean deserted = true;

    @Override
    public void watchEnds(Consumer<LinkPeer> watcher) {
      watchers.add(watcher);
    }

    @Override
    public void unwatchEnds(Consumer<LinkPeer> watcher) {
      watchers.remove(watcher);
    }

    @Override
    public CompletableFuture<Boolean> isDeserted(String bus, Duration limit) {
      probes++;
      return CompletableFuture.completedFuture(deserted);
    }

    void end(String channel) {
      List.copyOf(watchers).forEach(w -> w.accept(new LinkPeer("", "", "b", 1, channel)));
    }
  }

  LeaderCrashDetectorTest() {
    clock.freezeTime();
    detector.open();
  }

  private LeaderCrashDetector of(String self) {
    return new LeaderCrashDetector(
        links,
        raft,
        clock.eventLoop(),
        () -> TimeUnit.MILLISECONDS.toNanos(nowMillis),
        Duration.ofMillis(HEARTBEAT),
        self,
        RAFT);
  }

  private void pass(int millis) {
    for (int i = 0; i < millis; i++) {
      nowMillis++;
      clock.advanceTimeBy(1, TimeUnit.MILLISECONDS);
      // The tasks that began with no delay, and their results.
      for (int turn = 0; turn < 3; turn++) {
        clock.runScheduledPendingTasks();
      }
    }
  }

  @Test
  void standsForElectionWhenThePortRefusesTwiceAHeartbeatApart() {
    links.end(RAFT);
    pass(HEARTBEAT - 1);
    assertThat(links.probes).isEqualTo(1);
    assertThat(raft.stood).isEmpty();
    pass(5);
    assertThat(links.probes).isEqualTo(2);
    assertThat(raft.stood).containsExactly("b");
    pass(10_000);
    assertThat(links.probes).isEqualTo(2);
  }

  @Test
  void aBrokenLinkAloneSaysNothing() {
    links.deserted = false;
    links.end(RAFT);
    pass(10_000);
    assertThat(links.probes).isEqualTo(1);
    // A false alarm does not spoil the next one.
    links.deserted = true;
    links.end(RAFT);
    pass(2 * HEARTBEAT);
    assertThat(raft.stood).containsExactly("b");
  }

  @Test
  void aPortThatRefusedOnceSaysNothing() {
    links.end(RAFT);
    pass(HEARTBEAT / 2);
    links.deserted = false;
    pass(10_000);
    assertThat(links.probes).isEqualTo(2);
    assertThat(raft.stood).isEmpty();
  }

  @Test
  void aLeaderThatIsHeardLives() {
    raft.silenceMillis = HEARTBEAT - 10;
    links.end(RAFT);
    pass(10_000);
    assertThat(links.probes).isEqualTo(LeaderCrashDetector.PROBES);
    assertThat(raft.stood).isEmpty();
  }

  @Test
  void ofWhichNothingIsKnownLivesToo() {
    raft.silenceMillis = -1;
    links.end(RAFT);
    pass(10_000);
    assertThat(raft.stood).isEmpty();
  }

  /**
   * Checks a message from before the leader's end, which was at work here for longer than the first
   * look took.
   */
  @Test
  void aLeaderThatWasHeardAfterTheFirstLookIsGoneAtTheNext() {
    raft.silenceMillis = HEARTBEAT - 10;
    links.end(RAFT);
    pass(HEARTBEAT + 5);
    assertThat(raft.stood).isEmpty();
    raft.silenceMillis = HEARTBEAT + 5;
    pass(HEARTBEAT);
    assertThat(raft.stood).containsExactly("b");
    assertThat(links.probes).isEqualTo(3);
  }

  @Test
  void votersStandOneAfterTheOther() {
    LeaderCrashDetector second = of("c");
    detector.close();
    second.open();
    links.end(RAFT);
    pass(LeaderCrashDetector.STAGGER_MILLIS - 5);
    assertThat(links.probes).isZero();
    pass(HEARTBEAT);
    assertThat(raft.stood).isEmpty();
    pass(10);
    assertThat(raft.stood).containsExactly("b");
  }

  @Test
  void doesNothingWhenAnotherBusLeads() {
    links.end(RAFT);
    pass(HEARTBEAT / 2);
    raft.leader = "c";
    pass(10_000);
    assertThat(links.probes).isEqualTo(1);
    assertThat(raft.stood).isEmpty();
  }

  @Test
  void anotherChannelSaysNothing() {
    links.end("other");
    pass(10_000);
    assertThat(links.probes).isZero();
  }

  @Test
  void aBusThatIsNoVoterSaysNothing() {
    raft.voters = List.of("b", "c");
    links.end(RAFT);
    pass(10_000);
    assertThat(links.probes).isZero();
  }

  @Test
  void aBusThatDoesNotLeadIsNotLookedFor() {
    raft.leader = "c";
    links.end(RAFT);
    pass(10_000);
    assertThat(links.probes).isZero();
  }

  @Test
  void afterItsEndItDoesNothing() {
    detector.close();
    links.end(RAFT);
    pass(10_000);
    assertThat(links.probes).isZero();
  }

  /** Checks the same over real connections. */
  @Test
  void aPortIsDesertedWhenItsOwnerHasGone() throws Exception {
    LinkNode leader = node("b");
    try (LinkNode own = node("a")) {
      InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
      InetSocketAddress ownAddress = own.listen(any);
      PeerBook peers = new PeerBook();
      LeaderCrashDetector.Links real = LeaderCrashDetector.Links.of(own, peers);
      Duration limit = Duration.ofSeconds(10);
      assertThat(real.isDeserted("b", limit).get(20, TimeUnit.SECONDS)).isFalse();
      peers.learn("b", leader.listen(any));
      CompletableFuture<LinkPeer> ended = new CompletableFuture<>();
      real.watchEnds(ended::complete);
      leader.peer(ownAddress, RAFT).get(60, TimeUnit.SECONDS);
      assertThat(real.isDeserted("b", limit).get(20, TimeUnit.SECONDS)).isFalse();
      assertThat(ended).isNotDone();
      leader.close();
      assertThat(ended.get(60, TimeUnit.SECONDS).bus()).isEqualTo("b");
      assertThat(real.isDeserted("b", limit).get(60, TimeUnit.SECONDS)).isTrue();
    } finally {
      leader.close();
    }
  }

  private static LinkNode node(String name) {
    return new LinkNode(LinkOptions.DEFAULT, new LinkIdentity(name, ""), LinkSecurity.none());
  }
}
