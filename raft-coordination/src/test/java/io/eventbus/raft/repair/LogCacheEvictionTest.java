package io.eventbus.raft.repair;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.apache.ratis.protocol.RaftGroupMemberId;
import org.apache.ratis.protocol.RaftPeerId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(240)
class LogCacheEvictionTest {
  private static List<Thread> evicting(RaftGroupMemberId member) {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith(member + "-cacheEviction"))
        .toList();
  }

  @Test
  void theThreadHasEndedBeforeTheLogIsClosed(@TempDir Path directory) throws Exception {
    RaftGroupMemberId member =
        RaftGroupMemberId.valueOf(RaftPeerId.valueOf(BareRatis.SELF), BareRatis.GROUP);
    try (BareRatis ratis = BareRatis.leader(directory, 50)) {
      assertThat(evicting(member)).as("as Ratis names it").hasSize(1);
      LogCacheEviction.end(member);
      assertThat(evicting(member)).isEmpty();
      LogCacheEviction.endAndClose(ratis.server());
      assertThat(ratis.division().getInfo().isAlive()).isFalse();
    }
  }
}
