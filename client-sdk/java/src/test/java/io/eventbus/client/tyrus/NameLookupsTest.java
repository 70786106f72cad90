package io.eventbus.client.tyrus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class NameLookupsTest {
  private static final long LONG = TimeUnit.MINUTES.toNanos(1);

  private final NameLookups lookups = new NameLookups();
  private final CountDownLatch answered = new CountDownLatch(1);
  private final AtomicInteger asked = new AtomicInteger();
  private final HostAddresses.Resolver resolver = this::resolve;

  @AfterEach
  void close() {
    answered.countDown();
    lookups.close();
  }

  /** Resolves some names at once, and others when the test says so. */
  private InetAddress[] resolve(String host) throws UnknownHostException {
    asked.incrementAndGet();
    if (host.startsWith("dead")) {
      try {
        answered.await();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
    if (host.equals("nobody")) {
      throw new UnknownHostException(host);
    }
    return new InetAddress[] {InetAddress.getLoopbackAddress()};
  }

  @Test
  void manyWhoAskForANameThatIsNotAnsweredTakeOneThread() throws Exception {
    List<CompletableFuture<InetAddress[]>> all = new ArrayList<>();
    for (int i = 0; i < 10 * NameLookups.MAX_THREADS; i++) {
      all.add(lookups.find(resolver, "dead", LONG));
    }
    assertThat(lookups.find(resolver, "alive", LONG).get(60, TimeUnit.SECONDS)).hasSize(1);
    assertThat(all).noneMatch(CompletableFuture::isDone);
    answered.countDown();
    for (CompletableFuture<InetAddress[]> each : all) {
      assertThat(each.get(60, TimeUnit.SECONDS)).hasSize(1);
    }
    assertThat(asked).hasValue(2);
    assertThat(lookups.find(resolver, "dead", LONG).get(60, TimeUnit.SECONDS)).hasSize(1);
    assertThat(asked).as("an answer is not kept").hasValue(3);
  }

  @Test
  void failsAtTheDeadlineAndNeedsNoNameServiceForAddresses() throws Exception {
    for (int i = 0; i < NameLookups.MAX_THREADS; i++) {
      var unused = lookups.find(resolver, "dead" + i, LONG);
    }
    assertThatThrownBy(() -> lookups.find(resolver, "alive", 1).get(60, TimeUnit.SECONDS))
        .hasCauseInstanceOf(SocketTimeoutException.class)
        .hasMessageContaining("has not told the address of alive in the time for connecting");
    assertThat(lookups.find(resolver, "127.0.0.1", LONG)).isCompleted();
    assertThat(lookups.find(resolver, "[::1]", LONG)).isCompleted();
  }

  @Test
  void boundsTheQueue() {
    for (int i = 0; i < NameLookups.MAX_THREADS + NameLookups.MAX_WAITING; i++) {
      var unused = lookups.find(resolver, "dead" + i, LONG);
    }
    assertThatThrownBy(() -> lookups.find(resolver, "alive", LONG).get(60, TimeUnit.SECONDS))
        .hasMessageContaining("1000 names wait for the name service");
  }

  @Test
  void aNameThatDoesNotExistIsToldAsItIs() {
    assertThatThrownBy(() -> lookups.find(resolver, "nobody", LONG).get(60, TimeUnit.SECONDS))
        .hasCauseInstanceOf(UnknownHostException.class);
  }
}
