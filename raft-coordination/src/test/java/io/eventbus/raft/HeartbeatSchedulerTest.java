package io.eventbus.raft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.junit.jupiter.api.Test;

class HeartbeatSchedulerTest {
  private static final long PERIOD = 50;
  private static final Duration COMMIT_DELAY = Duration.ofMillis(10);

  private final Timer timer = new Timer();
  private final Listening follower = new Listening();
  private final HeartbeatScheduler heartbeats =
      new HeartbeatScheduler(follower, timer, PERIOD, COMMIT_DELAY);

  @Test
  void heartbeatsGoEveryPeriodWithOneTimerAtATime() {
    follower.left = 20;
    heartbeats.begin();
    heartbeats.begin();
    assertThat(timer.delays()).containsExactly(20L);
    follower.left = 0;
    for (int beats = 1; beats <= 3; beats++) {
      timer.fire();
      heartbeats.begin();
      assertThat(follower.heartbeats).isEqualTo(beats);
      assertThat(timer.delays()).containsExactly(PERIOD);
    }
  }

  @Test
  void aHeartbeatThatIsOverdueGoesAtOnce() {
    follower.left = -300;
    heartbeats.begin();
    assertThat(timer.delays()).containsExactly(0L);
    timer.fire();
    assertThat(follower.heartbeats).isEqualTo(1);
    assertThat(timer.delays()).containsExactly(PERIOD);
  }

  @Test
  void aBeatOutlivesWhatItsFollowerThrows() {
    heartbeats.begin();
    follower.broken = true;
    assertThatThrownBy(timer::fire).isInstanceOf(IllegalStateException.class);
    follower.broken = false;
    assertThat(timer.delays()).containsExactly(PERIOD);
    timer.fire();
    assertThat(follower.heartbeats).isEqualTo(1);
  }

  @Test
  void nobodyIsWokenTwiceForAHeartbeatThatIsAlmostDue() {
    heartbeats.begin();
    follower.left = 5;
    timer.fire();
    assertThat(follower.heartbeats).isEqualTo(1);
    assertThat(timer.delays()).containsExactly(PERIOD);
  }

  @Test
  void aHeartbeatThatIsNotDueWaitsForTheRestOfItsTime() {
    heartbeats.begin();
    follower.left = 6;
    timer.fire();
    assertThat(follower.heartbeats).isZero();
    assertThat(timer.delays()).containsExactly(6L);
    follower.left = 0;
    timer.fire();
    assertThat(follower.heartbeats).isEqualTo(1);
  }

  @Test
  void theBeatEndsWithItsReasonAndBeginsAnew() {
    heartbeats.begin();
    follower.beating = false;
    timer.fire();
    assertThat(follower.heartbeats).isZero();
    assertThat(timer.delays()).isEmpty();

    heartbeats.begin();
    assertThat(timer.delays()).isEmpty();
    follower.beating = true;
    heartbeats.begin();
    assertThat(timer.delays()).hasSize(1);
    timer.fire();
    assertThat(follower.heartbeats).isEqualTo(1);
  }

  @Test
  void aHeartbeatThatFailsDoesNotEndTheBeat() {
    heartbeats.begin();
    follower.failing = true;
    assertThatThrownBy(timer::fire).isInstanceOf(IllegalStateException.class);
    assertThat(timer.delays()).containsExactly(PERIOD);
    follower.failing = false;
    timer.fire();
    assertThat(follower.heartbeats).isEqualTo(2);
    assertThat(timer.delays()).containsExactly(PERIOD);
  }

  @Test
  void aTimerThatTakesNothingLetsTheBeatBeginLater() {
    timer.ended = true;
    heartbeats.begin();
    assertThat(timer.delays()).isEmpty();
    timer.ended = false;
    heartbeats.begin();
    assertThat(timer.delays()).hasSize(1);

    timer.ended = true;
    timer.fire();
    assertThat(follower.heartbeats).isEqualTo(1);
    assertThat(timer.delays()).isEmpty();
    timer.ended = false;
    heartbeats.begin();
    assertThat(timer.delays()).hasSize(1);
  }

  @Test
  void aFollowerThatHeardNothingForAWhileIsToldOfTheCommitOnce() {
    follower.behind = true;
    for (int commits = 0; commits < 5; commits++) {
      heartbeats.tellCommit();
    }
    assertThat(timer.delays()).containsExactly(COMMIT_DELAY.toMillis());
    assertThat(follower.heartbeats).isZero();
    follower.silence = COMMIT_DELAY.toMillis();
    timer.fire();
    assertThat(follower.heartbeats).isEqualTo(1);
    assertThat(timer.delays()).isEmpty();

    heartbeats.tellCommit();
    assertThat(timer.delays()).hasSize(1);
  }

  @Test
  void entriesOnTheirWayTellTheCommitAndAreLookedAfterAgain() {
    follower.behind = true;
    heartbeats.tellCommit();
    follower.silence = COMMIT_DELAY.toMillis() - 1;
    for (int messages = 0; messages < 3; messages++) {
      timer.fire();
      assertThat(follower.heartbeats).isZero();
      assertThat(timer.delays()).containsExactly(COMMIT_DELAY.toMillis());
    }
    follower.silence++;
    timer.fire();
    assertThat(follower.heartbeats).isEqualTo(1);
    assertThat(timer.delays()).isEmpty();
  }

  @Test
  void aFollowerThatKnowsTheCommitIsToldNothing() {
    follower.silence = 1_000;
    heartbeats.tellCommit();
    assertThat(timer.delays()).isEmpty();

    follower.behind = true;
    heartbeats.tellCommit();
    follower.behind = false;
    timer.fire();
    assertThat(follower.heartbeats).isZero();
    assertThat(timer.delays()).isEmpty();
  }

  @Test
  void withoutABeatNoCommitIsTold() {
    follower.behind = true;
    follower.silence = 1_000;
    follower.beating = false;
    heartbeats.tellCommit();
    assertThat(timer.delays()).isEmpty();

    follower.beating = true;
    heartbeats.tellCommit();
    follower.beating = false;
    timer.fire();
    assertThat(follower.heartbeats).isZero();
    assertThat(timer.delays()).isEmpty();
  }

  @Test
  void aTimerThatTakesNothingLetsTheCommitBeToldLater() {
    follower.behind = true;
    timer.ended = true;
    heartbeats.tellCommit();
    timer.ended = false;
    heartbeats.tellCommit();
    assertThat(timer.delays()).hasSize(1);
  }

  /** Follower as the test wants it. */
  private static final class Listening implements HeartbeatScheduler.Follower {
    private boolean beating = true;
    private long left;
    private long silence;
    private boolean behind;
    private boolean failing;
    private boolean broken;
    private int heartbeats;

    @Override
    public boolean isActive() {
      if (broken) {
        throw new IllegalStateException("not known");
      }
      return beating;
    }

    @Override
    public long untilHeartbeatMillis() {
      return left;
    }

    @Override
    public long silenceMillis() {
      return silence;
    }

    @Override
    public boolean isBehindCommit() {
      return behind;
    }

    @Override
    public void heartbeat() {
      heartbeats++;
      if (failing) {
        throw new IllegalStateException("no heartbeat");
      }
    }
  }

  private record Timing(Duration delay, Runnable task) {}

  /** Timer whose tasks are run by hand, in the order in which they came. */
  private static final class Timer implements FollowerRpc {
    private final Deque<Timing> timings = new ArrayDeque<>();
    private boolean ended;

    Iterable<Long> delays() {
      return timings.stream().map(timing -> timing.delay().toMillis()).toList();
    }

    void fire() {
      timings.remove().task().run();
    }

    @Override
    public void after(Duration delay, Runnable task) {
      if (ended) {
        throw new RejectedExecutionException("ended");
      }
      timings.add(new Timing(delay, task));
    }

    @Override
    public CompletableFuture<AppendEntriesReplyProto> append(AppendEntriesRequestProto request) {
      throw new UnsupportedOperationException();
    }

    @Override
    public AppendEntriesReplyProto appendEntries(AppendEntriesRequestProto request) {
      throw new UnsupportedOperationException();
    }

    @Override
    public InstallSnapshotReplyProto installSnapshot(InstallSnapshotRequestProto request) {
      throw new UnsupportedOperationException();
    }
  }
}
