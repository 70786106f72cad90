package io.eventbus.server.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.it.TestCertificate;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class TlsTasksTest {
  private final AtomicInteger refused = new AtomicInteger();

  @Test
  void aTaskRunsOnAThreadOfItsOwn() throws Exception {
    try (TlsTasks tasks = new TlsTasks(refused::incrementAndGet)) {
      CompletableFuture<Thread> thread = new CompletableFuture<>();
      tasks.forConnection().execute(() -> thread.complete(Thread.currentThread()));
      assertThat(thread.get(60, TimeUnit.SECONDS).getName()).startsWith("eventbus-tls-");
      assertThat(thread.get().isDaemon()).isTrue();
    }
  }

  @Test
  void excessEntriesAreRefusedAndCounted() throws Exception {
    CountDownLatch end = new CountDownLatch(1);
    CountDownLatch begun = new CountDownLatch(1);
    try (TlsTasks tasks = new TlsTasks(1, 2, refused::incrementAndGet)) {
      tasks
          .forConnection()
          .execute(
              () -> {
                begun.countDown();
                awaitQuietly(end);
              });
      assertThat(begun.await(60, TimeUnit.SECONDS)).isTrue();
      CompletableFuture<Void> second = new CompletableFuture<>();
      tasks.forConnection().execute(() -> {});
      tasks.forConnection().execute(() -> second.complete(null));
      assertThatThrownBy(() -> tasks.forConnection().execute(() -> {}))
          .isInstanceOf(RejectedExecutionException.class);
      assertThat(refused).hasValue(1);
      end.countDown();
      second.get(60, TimeUnit.SECONDS);
      CompletableFuture<Void> later = new CompletableFuture<>();
      tasks.forConnection().execute(() -> later.complete(null));
      later.get(60, TimeUnit.SECONDS);
    }
  }

  @Test
  void aConnectionWhoseHandshakeIsRefusedEnds() throws Exception {
    CountDownLatch end = new CountDownLatch(1);
    try (TestCertificate certificate = TestCertificate.make();
        TlsTasks tasks = new TlsTasks(1, 1, refused::incrementAndGet)) {
      Runnable wait = () -> awaitQuietly(end);
      tasks.forConnection().execute(wait);
      // The first may have been taken from the queue already.
      try {
        tasks.forConnection().execute(wait);
        tasks.forConnection().execute(wait);
      } catch (RejectedExecutionException e) {
        refused.set(0);
      }
      SslContext here =
          SslContextBuilder.forServer(
                  certificate.certificatePem().toFile(), certificate.keyPem().toFile())
              .build();
      SslContext there =
          SslContextBuilder.forClient().trustManager(InsecureTrustManagerFactory.INSTANCE).build();
      EmbeddedChannel server =
          new EmbeddedChannel(
              here.newHandler(UnpooledByteBufAllocator.DEFAULT, tasks.forConnection()));
      EmbeddedChannel client =
          new EmbeddedChannel(there.newHandler(UnpooledByteBufAllocator.DEFAULT));
      ByteBuf clientHello = client.readOutbound();
      assertThatThrownBy(() -> server.writeInbound(clientHello))
          .isInstanceOf(DecoderException.class);
      assertThat(server.isOpen()).isFalse();
      assertThat(refused).hasValue(1);
      server.finishAndReleaseAll();
      client.close().syncUninterruptibly();
      client.releaseOutbound();
      end.countDown();
    }
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void theEndOfTheBusIsNoRefusal() {
    TlsTasks tasks = new TlsTasks(refused::incrementAndGet);
    tasks.close();
    assertThatThrownBy(() -> tasks.forConnection().execute(() -> {}))
        .isInstanceOf(RejectedExecutionException.class);
    assertThat(refused).hasValue(0);
  }
}
