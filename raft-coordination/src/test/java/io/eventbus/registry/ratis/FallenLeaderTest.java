package io.eventbus.registry.ratis;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.link.LinkIdentity;
import io.eventbus.link.LinkNode;
import io.eventbus.link.LinkOptions;
import io.eventbus.link.LinkPeer;
import io.eventbus.link.LinkSecurity;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class FallenLeaderTest {
  private final LinkNode own = node("a");
  private final LinkNode leader = node("b");
  private final PeerBook peers = new PeerBook();
  private final Raft raft = new Raft();
  private final ScheduledThreadPoolExecutor timers = new ScheduledThreadPoolExecutor(1);
  private final BlockingQueue<LinkPeer> ends = new LinkedBlockingQueue<>();
  private final FallenLeader fallen = new FallenLeader(own, peers, raft, timers, "a");
  private InetSocketAddress ownAddress = new InetSocketAddress(0);
  private InetSocketAddress leaderAddress = new InetSocketAddress(0);

  private static final class Raft implements FallenLeader.Raft {
    private final BlockingQueue<String> stood = new LinkedBlockingQueue<>();
    private volatile @Nullable String leader = "b";
    private volatile List<String> voters = List.of("a", "b", "c");
    private volatile long silenceMillis = Long.MAX_VALUE;

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

  private static LinkNode node(String name) {
    return new LinkNode(LinkOptions.DEFAULT, new LinkIdentity(name, ""), LinkSecurity.none());
  }

  @BeforeEach
  void open() throws IOException {
    InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    ownAddress = own.listen(any);
    leaderAddress = leader.listen(any);
    peers.learn("b", leaderAddress);
    own.watchEnds(ends::add);
    fallen.open();
  }

  @AfterEach
  void close() {
    own.close();
    leader.close();
    timers.shutdownNow();
  }

  private void connect(String channel) throws Exception {
    leader.peer(ownAddress, channel).get(20, TimeUnit.SECONDS);
  }

  /** What was begun before this is done after it. */
  private void untilTimersAreDone() throws Exception {
    assertThat(ends.poll(20, TimeUnit.SECONDS)).isNotNull();
    timers.submit(() -> {}).get(20, TimeUnit.SECONDS);
  }

  @Test
  void standsForElectionWhenNobodyListensThereAnyMore() throws Exception {
    connect(Services.RAFT);
    leader.close();
    assertThat(raft.stood.poll(20, TimeUnit.SECONDS)).isEqualTo("b");
  }

  @Test
  void aBrokenLinkAloneSaysNothing() throws Exception {
    connect(Services.RAFT);
    leader.disconnect(ownAddress);
    untilTimersAreDone();
    // The same look that this bus takes.
    assertThat(own.isDeserted(leaderAddress, Duration.ofSeconds(10)).get(20, TimeUnit.SECONDS))
        .isFalse();
    assertThat(raft.stood).isEmpty();
    // A false alarm does not spoil the next one.
    connect(Services.RAFT);
    leader.close();
    assertThat(raft.stood.poll(20, TimeUnit.SECONDS)).isEqualTo("b");
  }

  @Test
  void aLeaderThatWasHeardSinceLives() throws Exception {
    raft.silenceMillis = -1;
    connect(Services.RAFT);
    leader.close();
    untilTimersAreDone();
    assertThat(own.isDeserted(leaderAddress, Duration.ofSeconds(10)).get(20, TimeUnit.SECONDS))
        .isTrue();
    timers.submit(() -> {}).get(20, TimeUnit.SECONDS);
    assertThat(raft.stood).isEmpty();
  }

  @Test
  void anotherChannelSaysNothing() throws Exception {
    connect(Services.COMMANDS);
    leader.close();
    untilTimersAreDone();
    assertThat(raft.stood).isEmpty();
  }

  @Test
  void aBusThatDoesNotLeadOrIsNoVoterSaysNothing() throws Exception {
    raft.leader = "c";
    connect(Services.RAFT);
    leader.disconnect(ownAddress);
    untilTimersAreDone();
    raft.leader = "b";
    raft.voters = List.of("b", "c");
    connect(Services.RAFT);
    leader.close();
    untilTimersAreDone();
    assertThat(raft.stood).isEmpty();
  }

  @Test
  void afterItsEndItDoesNothing() throws Exception {
    fallen.close();
    connect(Services.RAFT);
    leader.close();
    untilTimersAreDone();
    assertThat(raft.stood).isEmpty();
  }
}
