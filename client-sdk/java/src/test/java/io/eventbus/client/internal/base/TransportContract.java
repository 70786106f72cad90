package io.eventbus.client.internal.base;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Ack;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Contract of a {@link Transport} on which the client relies: tests of the client use one without a
 * network, which has to keep the same guarantees.
 */
@Timeout(180)
public abstract class TransportContract {
  private static final Duration TIMEOUT = Duration.ofSeconds(10);
  private static final byte[] ACK = ControlFrames.encode(TypeCode.ACK, new Ack("a", 5L, 7L));

  /** Other end of one connection. */
  protected interface Peer {
    /** Sends a message. */
    void say(byte[] message) throws Exception;

    /** Takes the next message, which is an Ack. */
    byte[] hear() throws Exception;

    /** Answers the ping that has come. */
    void pong() throws Exception;

    /** Sends a Close frame. */
    void close(int code, String reason) throws Exception;

    /** Takes the code of the Close frame that has come. */
    int heardClose() throws Exception;
  }

  private static final class Told implements Transport.Listener {
    final CompletableFuture<Transport.Channel> channel = new CompletableFuture<>();
    final BlockingQueue<String> calls = new LinkedBlockingQueue<>();

    @Override
    public void onOpen(Transport.Channel opened) {
      calls.add("open");
      channel.complete(opened);
    }

    @Override
    public void onFailed(Throwable failure) {
      calls.add("failed");
    }

    @Override
    public void onMessage(ByteBuffer message) {
      calls.add(
          "message of "
              + message.remaining()
              + (message.hasArray() ? " bytes" : " bytes without an array"));
    }

    @Override
    public void onPong() {
      calls.add("pong");
    }

    @Override
    public void onClosed(int code, String reason) {
      calls.add("closed " + code + " " + reason);
    }

    String next() throws InterruptedException {
      return String.valueOf(calls.poll(60, TimeUnit.SECONDS));
    }
  }

  private final Told told = new Told();
  private @Nullable Peer peer;

  /** Returns the transport under test, which its creator closes. */
  protected abstract Transport transport();

  /** Returns an address where somebody listens. */
  protected abstract URI url();

  /** Returns an address where nobody listens. */
  protected abstract URI deadUrl() throws Exception;

  /** Returns the connection that was asked for. */
  protected abstract Peer accept() throws Exception;

  private Transport.Channel connect() throws Exception {
    transport().connect(url(), TIMEOUT, told);
    peer = accept();
    assertThat(told.next()).isEqualTo("open");
    return told.channel.join();
  }

  private Peer peer() {
    return Objects.requireNonNull(peer);
  }

  private static CompletableFuture<@Nullable Throwable> send(
      Transport.Channel channel, AtomicInteger calls) {
    CompletableFuture<@Nullable Throwable> sent = new CompletableFuture<>();
    ByteBuffer message = ByteBuffer.allocate(ACK.length + 5).position(2).put(ACK);
    channel.send(
        message.flip().position(2),
        failure -> {
          calls.incrementAndGet();
          sent.complete(failure);
        });
    return sent;
  }

  @Test
  void reportsAFailedConnectionOnce() throws Exception {
    transport().connect(deadUrl(), TIMEOUT, told);
    assertThat(told.next()).isEqualTo("failed");
    assertThat(told.calls).isEmpty();
  }

  @Test
  void sendsTheBytesBetweenPositionAndLimitAndReportsOnce() throws Exception {
    Transport.Channel channel = connect();
    AtomicInteger calls = new AtomicInteger();
    assertThat(send(channel, calls).get(60, TimeUnit.SECONDS)).isNull();
    assertThat(peer().hear()).isEqualTo(ACK);
    assertThat(send(channel, calls).get(60, TimeUnit.SECONDS)).isNull();
    assertThat(peer().hear()).isEqualTo(ACK);
    assertThat(calls).hasValue(2);
  }

  @Test
  void messagesComeInOrderInBuffersWithAnArray() throws Exception {
    connect();
    peer().say(new byte[1]);
    peer().say(new byte[2]);
    assertThat(told.next()).isEqualTo("message of 1 bytes");
    assertThat(told.next()).isEqualTo("message of 2 bytes");
  }

  @Test
  void aPingIsAnswered() throws Exception {
    connect().ping();
    peer().pong();
    assertThat(told.next()).isEqualTo("pong");
  }

  @Test
  void theCloseOfTheOtherSideIsTheLastThatIsTold() throws Exception {
    Transport.Channel channel = connect();
    peer().close(4001, "too slow");
    assertThat(told.next()).isEqualTo("closed 4001 too slow");
    channel.abort();
    channel.close(1000, "late");
    channel.ping();
    assertThat(told.calls).isEmpty();
  }

  @Test
  void ourCloseReachesTheOtherSide() throws Exception {
    connect().close(1000, "");
    assertThat(peer().heardClose()).isEqualTo(1000);
    assertThat(told.next()).startsWith("closed 1000");
  }

  @Test
  void anAbortedConnectionHasCode1006() throws Exception {
    connect().abort();
    assertThat(told.next()).startsWith("closed 1006");
    assertThat(told.calls).isEmpty();
  }

  @Test
  void sendingAfterTheEndFails() throws Exception {
    Transport.Channel channel = connect();
    channel.abort();
    assertThat(told.next()).startsWith("closed");
    AtomicInteger calls = new AtomicInteger();
    assertThat(send(channel, calls).get(60, TimeUnit.SECONDS)).isNotNull();
    assertThat(calls).hasValue(1);
  }

  @Test
  void aPausedConnectionGoesOnWhereItWas() throws Exception {
    Transport.Channel channel = connect();
    channel.pauseReading();
    CompletableFuture<Void> said =
        CompletableFuture.runAsync(
            () -> {
              try {
                peer().say(new byte[1]);
                peer().say(new byte[2]);
              } catch (Exception e) {
                throw new AssertionError(e);
              }
            });
    channel.resumeReading();
    assertThat(told.next()).isEqualTo("message of 1 bytes");
    assertThat(told.next()).isEqualTo("message of 2 bytes");
    said.get(60, TimeUnit.SECONDS);
  }
}
