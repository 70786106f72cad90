package io.eventbus.server.call.tunnel;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.schema.Execution;
import io.eventbus.schema.FailureCode;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Tunnel ends that wait for a client that does not read are bounded. */
class TunnelEndingsTest {
  private static final int MAX = 64;
  private static final long BULK_BYTES = 1 << 20;
  private static final int FRAME_BYTES = 40;

  private final TunnelFixture kit = new TunnelFixture(TunnelSettings.of(MAX, BULK_BYTES));
  private final TunnelFixture.Connection caller = kit.connection();
  private final TunnelFixture.Connection member = kit.connection();

  /**
   * Opens a tunnel that its member ends at once; returns the number of details sent to its caller.
   */
  private int endedDetails(long call) {
    TunnelHalf half = Objects.requireNonNull(caller.tunnels.request(call, false, 1_000));
    TunnelHalf accepted = member.tunnels.accept(-call, 1_000, half);
    half.accepted(accepted);
    accepted.endIfTooMany();
    member.tunnels.reset(
        -call,
        new TunnelEnding(FailureCode.FAILED, Execution.YES, "why", "type", new byte[64 << 10]));
    int details = Objects.requireNonNull(caller.endings.get(call)).details().length;
    caller.tunnels.sentEnding(details + FRAME_BYTES);
    return details;
  }

  @Test
  void detailsWaitOnlyAsLongAsThereIsRoomForBulk() {
    long waiting = 0;
    for (long call = 1; call <= MAX; call++) {
      waiting += endedDetails(call);
    }
    assertThat(waiting).isBetween(100_000L, BULK_BYTES / 2);
    caller.tunnels.written(MAX);
    assertThat(endedDetails(MAX + 1)).as("when that is written").isEqualTo(64 << 10);
  }

  @Test
  void refusesTunnelsToAClientThatDoesNotReadTheirEnds() {
    long call = 1;
    long waiting = 0;
    while (waiting <= BULK_BYTES / 2) {
      waiting += endedDetails(call++) + FRAME_BYTES;
    }
    assertThat(caller.tunnels.request(call, false, 1_000)).isNull();
    assertThat(caller.tunnels.refusal())
        .contains("unread ends of tunnels take " + waiting + " bytes");
    caller.tunnels.written(1);
    assertThat(caller.tunnels.request(call, false, 1_000)).isNotNull();
  }
}
