package io.eventbus.server.transport;

import io.eventbus.server.session.BusContext;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Orderly end of a bus. First no client is read from any more; when all loops have handed over what
 * was read before, every connection writes what is queued and closes with 1001. Unread input was
 * not confirmed, so a publisher sends it again elsewhere.
 */
final class Shutdown {
  private static final Logger LOG = LoggerFactory.getLogger(Shutdown.class);
  private static final long POLL_NANOS = 5_000_000;

  private final List<ConnectionLoop> loops;
  private final BusContext bus;

  Shutdown(List<ConnectionLoop> loops, BusContext bus) {
    this.loops = loops;
    this.bus = bus;
  }

  void run(long deadline) {
    onAll(deadline, loop -> loop.connections().forEach(ConnectionLoop.Ticking::stopReading));
    CountDownLatch handedOver = new CountDownLatch(loops.size());
    for (ConnectionLoop loop : loops) {
      bus.barrier().afterAll(loop.number(), handedOver::countDown);
    }
    await(handedOver, deadline);
    onAll(deadline, loop -> loop.connections().forEach(ConnectionLoop.Ticking::shutdown));
    while (bus.stats().connections.get() > 0 && System.nanoTime() < deadline) {
      LockSupport.parkNanos(POLL_NANOS);
    }
    onAll(deadline, loop -> loop.context().calls().finish());
    int left = bus.stats().connections.get();
    if (left > 0) {
      LOG.warn("closing {} connections that did not end in time", left);
    }
  }

  private void onAll(long deadline, Consumer<ConnectionLoop> action) {
    CountDownLatch done = new CountDownLatch(loops.size());
    for (ConnectionLoop loop : loops) {
      loop.eventLoop()
          .execute(
              () -> {
                try {
                  action.accept(loop);
                } finally {
                  done.countDown();
                }
              });
    }
    await(done, deadline);
  }

  private static void await(CountDownLatch latch, long deadline) {
    try {
      if (!latch.await(deadline - System.nanoTime(), TimeUnit.NANOSECONDS)) {
        LOG.warn("an event loop did not answer in time during the shutdown");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
