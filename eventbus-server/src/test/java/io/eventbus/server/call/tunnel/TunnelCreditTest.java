package io.eventbus.server.call.tunnel;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

/** Frequency of credit to the sender of a tunnel. */
class TunnelCreditTest {
  private final TunnelFixture kit = new TunnelFixture(TunnelSettings.of(64, 1 << 20));
  private final TunnelFixture.Connection caller = kit.connection();
  private final TunnelFixture.Connection member = kit.connection();

  @Test
  void aLimitThatGrowsByteByByteCausesFewFrames() {
    kit.open(caller, member, 1, 1_000, 1);
    int told = 0;
    for (long limit = 2; limit <= 10_000; limit++) {
      long before = caller.lastLimit;
      member.tunnels.credit(-1, limit, 0);
      told += caller.lastLimit == before ? 0 : 1;
    }
    assertThat(told).isBetween(1, 20);
    assertThat(caller.lastLimit).isGreaterThan(8_000);
  }

  @Test
  void aClientThatTakesLittleGetsMessageAfterMessage() {
    kit.open(caller, member, 1, 1_000, 150);
    long end = 0;
    for (int message = 0; message < 100; message++) {
      // Each needs all credit of the client: 86 bytes and the frame.
      assertThat(caller.data(1, end, false, false, ByteBuffer.allocate(86)))
          .isEqualTo(TunnelClient.Outcome.TAKEN);
      end += 150;
      assertThat(member.take(null)).isTrue();
      member.tunnels.credit(-1, end + 75, end - 75);
      member.tunnels.credit(-1, end + 150, end);
      assertThat(caller.limits.get(1L)).isEqualTo(end + 150);
    }
  }
}
