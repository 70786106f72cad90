package io.eventbus.server.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.it.TestCertificate;
import io.eventbus.it.TlsHellos;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tasks of the handshake run when the test says so. */
class ClientTlsTest {
  private static TestCertificate certificate;

  private final Queue<Runnable> tasks = new ArrayDeque<>();
  private final List<Throwable> failures = new ArrayList<>();
  private EmbeddedChannel channel;
  private byte[] hello;

  @BeforeAll
  static void make() throws Exception {
    certificate = TestCertificate.make();
  }

  @AfterAll
  static void forget() throws Exception {
    certificate.close();
  }

  @BeforeEach
  void connect() throws Exception {
    SslContext context =
        SslContextBuilder.forServer(
                certificate.certificatePem().toFile(), certificate.keyPem().toFile())
            .build();
    channel =
        new EmbeddedChannel(
            new ClientTls(
                context.newEngine(UnpooledByteBufAllocator.DEFAULT),
                tasks::add,
                new Wire().loop,
                failures::add));
    hello = TlsHellos.withoutCommonCipher(certificate.trusting());
  }

  private void runTask() {
    tasks.remove().run();
    channel.runPendingTasks();
  }

  @Test
  void aTaskThatFailsAfterTheEndOfItsConnectionIsToldOnceAndNotThrown() {
    channel.writeInbound(Unpooled.wrappedBuffer(hello));
    // The client has gone: nothing can be written to it any more.
    channel.unsafe().close(channel.voidPromise());
    channel.runPendingTasks();
    assertThat(failures).as("who only leaves fails nothing").isEmpty();
    runTask();
    assertThat(failures)
        .singleElement()
        .satisfies(
            failure ->
                assertThat(failure)
                    .isInstanceOf(DecoderException.class)
                    .hasCauseInstanceOf(SSLException.class));
    channel.checkException();
    channel.releaseOutbound();
  }

  @Test
  void aTaskThatFailsBeforeIsToldOnceAndGoesOnToTheNextHandler() {
    channel.writeInbound(Unpooled.wrappedBuffer(hello));
    runTask();
    assertThat(failures).singleElement().isInstanceOf(SSLException.class);
    assertThat(channel.isOpen()).isFalse();
    channel.releaseOutbound();
  }
}
