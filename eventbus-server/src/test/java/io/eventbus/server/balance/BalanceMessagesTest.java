package io.eventbus.server.balance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.link.LinkServiceException;
import io.eventbus.server.balance.decision.MovePlanner;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class BalanceMessagesTest {
  private static final BalanceMessages.Load LOAD = new BalanceMessages.Load(0.5, 7, true, false);
  private static final BalanceMessages.Reserve RESERVE =
      new BalanceMessages.Reserve(
          0.9,
          true,
          10_000,
          List.of(new BalanceMessages.Wanted(7, 0.01, 1), new BalanceMessages.Wanted(8, 0.02, 2)));
  private static final BalanceMessages.Granted GRANTED =
      new BalanceMessages.Granted(List.of("ws://b/bus"), List.of("one", "two"));

  @Test
  void writtenMessagesCanBeRead() {
    assertThat(BalanceMessages.Load.decode(LOAD.encode())).isEqualTo(LOAD);
    assertThat(BalanceMessages.Reserve.decode(RESERVE.encode())).isEqualTo(RESERVE);
    assertThat(BalanceMessages.Granted.decode(GRANTED.encode())).isEqualTo(GRANTED);
    BalanceMessages.Drain drain = new BalanceMessages.Drain(true, true);
    assertThat(BalanceMessages.Drain.decode(drain.encode())).isEqualTo(drain);
  }

  @Test
  void anOrderToDrainOfAnEarlierVersionIsNotForGood() {
    assertThat(
            BalanceMessages.Drain.decode(
                Arrays.copyOf(new BalanceMessages.Drain(true, true).encode(), 2)))
        .isEqualTo(new BalanceMessages.Drain(true, false));
  }

  @Test
  void truncatedMessagesAreRefused() {
    byte[] whole = RESERVE.encode();
    for (int i = 0; i < whole.length; i++) {
      byte[] cut = Arrays.copyOf(whole, i);
      assertThatThrownBy(() -> BalanceMessages.Reserve.decode(cut))
          .isInstanceOf(LinkServiceException.class);
    }
  }

  @Test
  void moreClientsThanMayBeAreRefusedBeforeTheyAreRead() {
    BalanceMessages.Wanted client = new BalanceMessages.Wanted(7, 0.01, 1);
    List<BalanceMessages.Wanted> max = Collections.nCopies(MovePlanner.MAX_CLIENTS, client);
    byte[] bytes = new BalanceMessages.Reserve(0.9, true, 10_000, max).encode();
    assertThat(BalanceMessages.Reserve.decode(bytes).clients()).hasSize(max.size());
    ByteBuffer.wrap(bytes).putInt(1 + 8 + 1 + 4, MovePlanner.MAX_CLIENTS + 1);
    assertThatThrownBy(() -> BalanceMessages.Reserve.decode(bytes))
        .isInstanceOf(LinkServiceException.class)
        .hasMessageContaining("clients: 501");
  }

  @Test
  void loadsThatCannotBeAreRefused() {
    for (double wrong : new double[] {-0.1, Double.NaN, Double.POSITIVE_INFINITY, 1e7}) {
      byte[] bytes = LOAD.encode();
      ByteBuffer.wrap(bytes).putDouble(1, wrong);
      assertThatThrownBy(() -> BalanceMessages.Load.decode(bytes))
          .isInstanceOf(LinkServiceException.class)
          .hasMessageContaining("load: " + wrong);
    }
  }

  @Property
  void anyBytesAreReadOrRefused(@ForAll byte[] bytes) {
    for (Runnable decode :
        List.<Runnable>of(
            () -> BalanceMessages.Load.decode(bytes),
            () -> BalanceMessages.Reserve.decode(bytes),
            () -> BalanceMessages.Granted.decode(bytes),
            () -> BalanceMessages.Drain.decode(bytes))) {
      try {
        decode.run();
      } catch (LinkServiceException e) {
        assertThat(e.code()).isEqualTo("MALFORMED");
      }
    }
  }
}
