package io.eventbus.raft;

import static io.eventbus.raft.Fake.fake;
import static io.eventbus.raft.Fake.unexpected;
import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.raft.repair.LeaderContact;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftServer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RatisGroupTest {
  private @Nullable RaftPeerId leader;
  private long nanos;
  private final LeaderContact contact = new LeaderContact(() -> nanos);
  private final RatisGroup group =
      new RatisGroup(
          fake(RaftServer.class, this::ofServer),
          RaftGroupId.randomId(),
          RaftPeerId.valueOf("bus-a"),
          contact,
          Runnable::run,
          Runnable::run);

  private Object ofServer(String method, Object[] arguments) {
    if (!method.equals("getDivision")) {
      throw unexpected(method);
    }
    return fake(
        RaftServer.Division.class,
        (info, none) -> fake(DivisionInfo.class, (getter, nothing) -> leader));
  }

  private void passMillis(long millis) {
    nanos += TimeUnit.MILLISECONDS.toNanos(millis);
  }

  @Test
  void aLeaderIsSilentSinceItsLastMessage() {
    leader = RaftPeerId.valueOf("bus-b");
    passMillis(70);
    assertThat(group.leaderSilenceMillis()).as("since the start").isEqualTo(70);
    contact.heard(contact.now());
    passMillis(40);
    assertThat(group.leaderSilenceMillis()).isEqualTo(40);
    contact.heard(0);
    assertThat(group.leaderSilenceMillis()).as("a message from before").isEqualTo(40);
  }

  @Test
  void noLeaderIsNotSilentAndThisBusNeverIs() {
    passMillis(70);
    assertThat(group.leaderSilenceMillis()).isNegative();
    leader = RaftPeerId.valueOf("bus-a");
    assertThat(group.leaderSilenceMillis()).isZero();
    passMillis(30);
    leader = RaftPeerId.valueOf("bus-b");
    assertThat(group.leaderSilenceMillis()).as("since this bus led").isEqualTo(30);
  }
}
