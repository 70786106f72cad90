package io.eventbus.server.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.FrameCursor;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.RequestView;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.protocol.TypeCode;
import io.eventbus.server.samples.ReachableHeap;
import io.eventbus.server.samples.SampleCalls;
import io.eventbus.server.samples.SampleRules;
import io.eventbus.server.security.FilterRules;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;

class CalledServicesTest {
  private final FilterRules some =
      SampleRules.of(List.of(TopicFilter.parse("orders")), List.of(), "a");
  private final FilterRules others =
      SampleRules.of(List.of(TopicFilter.parse("bills")), List.of(), "b");
  private final CalledServices called = new CalledServices();

  private CalledServices.Decision decide(String service, FilterRules rules) {
    ByteBuffer message =
        ByteBuffer.wrap(
            ControlFrames.encode(TypeCode.REQUEST, SampleCalls.request(1, service, "")));
    FrameCursor frame = new FrameCursor().wrap(message, 0, message.limit());
    assertThat(frame.next()).isTrue();
    RequestView request = new RequestView();
    request.read(message, frame.bodyStart(), frame.bodyEnd(), FrameLimits.DEFAULT);
    return called.decide(message, request, rules);
  }

  @Test
  void aNameIsDecidedOnceForTheSameRules() {
    CalledServices.Decision first = decide("orders", some);
    assertThat(first.allowed()).isTrue();
    assertThat(called.takeWork()).isPositive();
    assertThat(decide("orders", some)).isSameAs(first);
    assertThat(called.takeWork()).isZero();
    assertThat(decide("orders", others).allowed()).isFalse();
    assertThat(decide("bills", others).allowed()).isTrue();
  }

  @Test
  void namesThatClientsChooseTakeABoundedPartOfTheHeap() {
    long before = ReachableHeap.bytes(called);
    for (int i = 0; i < 10_000; i++) {
      decide("orders." + i + "x".repeat(230), some);
    }
    assertThat(ReachableHeap.bytes(called) - before).isLessThan(256 << 10);
  }
}
