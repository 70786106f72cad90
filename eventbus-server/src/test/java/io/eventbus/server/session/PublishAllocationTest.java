package io.eventbus.server.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.ThreadMXBean;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Hello;
import io.eventbus.server.config.ClientQuotas;
import io.eventbus.server.config.Quota;
import io.eventbus.server.config.Quotas;
import io.eventbus.server.samples.FakeAuthenticator;
import io.eventbus.server.samples.SampleFrames;
import io.eventbus.server.samples.SampleRules;
import io.eventbus.server.security.Action;
import io.eventbus.server.security.Authentication;
import io.eventbus.server.security.AuthenticationMethod;
import io.eventbus.server.security.Authentications;
import io.eventbus.server.security.FilterRules;
import io.eventbus.server.security.Permissions;
import io.eventbus.server.security.Principal;
import io.netty.buffer.PooledByteBufAllocator;
import java.io.ByteArrayOutputStream;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Steady-state publishing allocates nothing, including checks of permissions and quotas. */
class PublishAllocationTest {
  private static final int ROUNDS = 200;
  private static final int ATTEMPTS = 300;

  /** More than the cache holds. */
  private static final int TOPICS = 20;

  private final WorkBudget budget = new WorkBudget();

  private SessionFixture bus(Map<Action, FilterRules> limited, Quotas quotas) {
    Permissions permissions =
        ((Authentication.Accepted) FakeAuthenticator.accepted(limited)).principal().permissions();
    Authentication answer =
        new Authentication.Accepted(
            new Principal(
                "acme",
                "u1",
                AuthenticationMethod.JWT,
                permissions,
                new ClientQuotas(quotas, quotas),
                null,
                null));
    return new SessionFixture(
            Clock.systemUTC(),
            new Authentications(credentials -> CompletableFuture.completedFuture(answer)))
        .allocator(PooledByteBufAllocator.DEFAULT)
        .budget(budget);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void publishingAllocatesNothing(boolean limited) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    assumeTrue(
        threads.isThreadAllocatedMemorySupported() && threads.isThreadAllocatedMemoryEnabled(),
        "this JVM does not count what a thread allocates");
    FilterRules some =
        SampleRules.of(
            List.of(TopicFilter.parse("topic.*")), List.of(TopicFilter.parse("topic.x")), "test");
    Quotas quotas =
        limited
            ? new Quotas(
                Map.of(Quota.PUBLISH_EVENTS, 1_000_000_000L, Quota.PUBLISH_BYTES, 1L << 40))
            : Quotas.NONE;
    SessionFixture bus = bus(limited ? Map.of(Action.PUBLISH, some) : Map.of(), quotas);
    Session session = new FakeLink().session(bus.context());
    Runnable never =
        () -> {
          throw new AssertionError("it does not wait");
        };
    byte[] hello =
        ControlFrames.encode(
            TypeCode.HELLO, new Hello("client", "", null, null, Map.of(), null, null, null));
    session.onMessage(ByteBuffer.wrap(hello), 0, hello.length, 1, never);
    ByteArrayOutputStream frames = new ByteArrayOutputStream();
    for (int i = 0; i < TOPICS; i++) {
      frames.writeBytes(SampleFrames.publish("topic.t" + i, 1, false, "x", "y"));
    }
    ByteBuffer message = ByteBuffer.wrap(frames.toByteArray());
    // The compiler adds or removes a few objects while it warms up: a measurement without any has
    // to occur, and soon.
    long minimum = Long.MAX_VALUE;
    long events = 0;
    for (int attempt = 0; attempt < ATTEMPTS && minimum > 0; attempt++) {
      long before = threads.getCurrentThreadAllocatedBytes();
      for (int round = 0; round < ROUNDS; round++) {
        budget.renew();
        session.onMessage(message, 0, message.limit(), 1, never);
        events += 2 * TOPICS;
      }
      minimum = Math.min(minimum, threads.getCurrentThreadAllocatedBytes() - before);
    }
    assertThat(session.published()).isEqualTo(events);
    assertThat(minimum).as("bytes allocated in %d messages", ROUNDS).isZero();
    session.onClosed();
    assertThat(bus.memory.used()).isZero();
  }
}
