package io.eventbus.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.link.LinkIdentity;
import io.eventbus.link.LinkNode;
import io.eventbus.link.LinkOptions;
import io.eventbus.link.LinkSecurity;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class StaleSessionCloserTest {
  private record Asked(String session, long producer) {}

  private record Counted(long ended, long gone, long unknown) {}

  private final Map<String, InetSocketAddress> addresses = new ConcurrentHashMap<>();
  private final Queue<Asked> asked = new ConcurrentLinkedQueue<>();
  private final BlockingQueue<Counted> counted = new LinkedBlockingQueue<>();
  private final CountDownLatch answers = new CountDownLatch(1);
  private final LinkNode here = node("here");
  private final LinkNode there = node("bus-1");

  private static LinkNode node(String bus) {
    return new LinkNode(LinkOptions.DEFAULT, new LinkIdentity(bus, ""), LinkSecurity.none());
  }

  private static InetSocketAddress listen(LinkNode node) {
    try {
      return node.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private StaleSessionCloser of(LinkNode node, StaleSessionCloser.Local local) {
    return new StaleSessionCloser(
        node,
        addresses::get,
        local,
        (ended, gone, unknown) -> counted.add(new Counted(ended, gone, unknown)));
  }

  private StaleSessionCloser asking() {
    return of(here, (session, producer) -> false);
  }

  private void answering() {
    of(
        there,
        (session, producer) -> {
          await(answers);
          asked.add(new Asked(session, producer));
          return producer % 2 == 0;
        });
    addresses.put("bus-1", listen(there));
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private Counted sum(long sessions) throws InterruptedException {
    Counted all = new Counted(0, 0, 0);
    while (all.ended + all.gone + all.unknown < sessions) {
      Counted next = next();
      all = new Counted(all.ended + next.ended, all.gone + next.gone, all.unknown + next.unknown);
    }
    return all;
  }

  private Counted next() throws InterruptedException {
    @Nullable Counted next = counted.poll(60, TimeUnit.SECONDS);
    if (next == null) {
      throw new AssertionError("nothing was counted");
    }
    return next;
  }

  @AfterEach
  void close() {
    answers.countDown();
    here.close();
    there.close();
  }

  @Test
  void theBusThatTheIdNamesIsAskedInOneCallAtATime() throws Exception {
    answering();
    StaleSessionCloser asking = asking();
    List<Asked> all = new ArrayList<>();
    for (long n = 0; n < 10; n++) {
      all.add(new Asked("bus-1-mabc12-" + n, n));
      asking.end(all.get((int) n).session(), n);
    }
    answers.countDown();
    assertThat(next()).isEqualTo(new Counted(1, 0, 0));
    assertThat(next()).as("all that came meanwhile").isEqualTo(new Counted(4, 5, 0));
    assertThat(asked).containsExactlyElementsOf(all);
  }

  @Test
  void sessionsWithoutABusAreCountedOnly() throws Exception {
    answering();
    StaleSessionCloser asking = asking();
    for (String id : List.of("", "-", "--", "x", "bus-1", "bus-1-", "bus-2-mabc12-1", "-a-1")) {
      asking.end(id, 2);
      assertThat(next()).as(id).isEqualTo(new Counted(0, 0, 1));
    }
    assertThat(asked).isEmpty();
  }

  @Test
  void anOlderBusIsNotAskedAgain() throws Exception {
    // The peer listens, and does not know the service.
    addresses.put("bus-1", listen(there));
    asking().end("bus-1-mabc12-1", 2);
    assertThat(next()).isEqualTo(new Counted(0, 0, 1));
  }

  @Test
  void anAnswerThatCannotBeReadCountsAsNone() throws Exception {
    Queue<byte[]> answersToGive = new ConcurrentLinkedQueue<>();
    there.offer(
        StaleSessionCloser.SERVICE,
        (peer, request) -> CompletableFuture.completedFuture(answersToGive.remove()));
    addresses.put("bus-1", listen(there));
    StaleSessionCloser asking = asking();
    for (byte[] wrong :
        List.of(
            new byte[0],
            new byte[] {2, 0, 0, 0, 1},
            new byte[] {1, 0, 0},
            new byte[] {1, 0, 0, 0, 2})) {
      answersToGive.add(wrong);
      asking.end("bus-1-mabc12-1", 2);
      assertThat(next()).isEqualTo(new Counted(0, 0, 1));
    }
    answersToGive.add(new byte[] {1, 0, 0, 0, 1});
    asking.end("bus-1-mabc12-1", 2);
    assertThat(next()).isEqualTo(new Counted(1, 0, 0));
  }

  @Test
  void notMoreWaitThanMayWait() throws Exception {
    answering();
    StaleSessionCloser asking = asking();
    int max = StaleSessionCloser.MAX_WAITING;
    // A call is in progress.
    for (int n = 0; n < max + 1 + 5; n++) {
      asking.end("bus-1-mabc12-" + n, 2);
    }
    assertThat(counted).hasSize(5);
    answers.countDown();
    assertThat(sum(max + 6)).isEqualTo(new Counted(max + 1, 0, 5));
  }
}
