package io.eventbus.loadtest.coordination.etcd;

import io.eventbus.loadtest.coordination.CoordinationClient;
import io.eventbus.loadtest.coordination.CoordinationException;
import io.eventbus.loadtest.coordination.Put;
import io.eventbus.loadtest.coordination.Register;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * A client with a connection to one server, and to the next one when that does not answer. A
 * register is a key; writes are unconditional.
 */
final class EtcdWriter implements CoordinationClient {
  /**
   * A server that has lost its leader answers late or never: then the next one is asked, within the
   * deadline of the whole.
   */
  private static final Duration TRY = Duration.ofSeconds(1);

  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(2);
  private static final int CLOSE_MILLIS = 500;

  private final List<ManagedChannel> channels;
  private final AtomicInteger current;

  EtcdWriter(List<Integer> ports, int first) {
    this.channels = ports.stream().map(EtcdWriter::channel).toList();
    this.current = new AtomicInteger(first);
  }

  /** Returns a channel, which connects at the first call only. */
  static ManagedChannel channel(int port) {
    return NettyChannelBuilder.forAddress(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
        .usePlaintext()
        .directExecutor()
        .build();
  }

  /** Asks one server after the other; for what may be carried out more than once. */
  private byte[] call(EtcdCall call, ProtoWriter request) {
    byte[] bytes = request.toByteArray();
    long end = System.nanoTime() + DEADLINE.toNanos();
    while (true) {
      int server = current.get();
      try {
        return call.call(channels.get(server), bytes, left(end));
      } catch (StatusRuntimeException e) {
        leave(server);
        if (isOver(end)) {
          throw told(e);
        }
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    }
  }

  private static Duration left(long end) {
    long left = Math.max(PAUSE_NANOS, end - System.nanoTime());
    return Duration.ofNanos(Math.min(left, TRY.toNanos()));
  }

  private static boolean isOver(long end) {
    return end - System.nanoTime() <= 2 * PAUSE_NANOS;
  }

  private void leave(int server) {
    // A channel that failed to connect waits before it tries again.
    channels.get(server).resetConnectBackoff();
    current.compareAndSet(server, (server + 1) % channels.size());
  }

  private static CoordinationException told(StatusRuntimeException error) {
    return new CoordinationException(error.getStatus().getCode().name(), error);
  }

  private static ProtoWriter put(String register, String value) {
    return new ProtoWriter().text(1, register).text(2, value);
  }

  @Override
  public void create(String register, String value) {
    // Only if it was never created: an attempt before may have been carried out after all.
    ProtoWriter absent = new ProtoWriter().number(1, 0).number(2, 1).text(3, register).number(5, 0);
    ProtoWriter operation = new ProtoWriter().message(2, put(register, value));
    call(EtcdCall.TXN, new ProtoWriter().message(1, absent).message(2, operation));
  }

  @Override
  public void write(Put put) {
    call(EtcdCall.PUT, put(put.register(), put.value()));
  }

  @Override
  public Register read(String register) {
    return read(register, true);
  }

  @Override
  public Register readNewest(String register) {
    return read(register, false);
  }

  private Register read(String register, boolean local) {
    ProtoWriter request = new ProtoWriter().text(1, register);
    if (local) {
      request.number(7, 1);
    }
    ProtoMessage answer = ProtoMessage.parse(call(EtcdCall.RANGE, request));
    if (!answer.has(2)) {
      return Register.absent(register);
    }
    ProtoMessage key = answer.message(2);
    return new Register(register, key.text(5), key.number(3), key.number(4) - 1);
  }

  @Override
  public boolean replace(Register read, String value) {
    // Compare: equal (0), revision of the last change (target 2).
    ProtoWriter unchanged =
        new ProtoWriter().number(1, 0).number(2, 2).text(3, read.name()).number(6, read.version());
    ProtoWriter operation = new ProtoWriter().message(2, put(read.name(), value));
    ProtoWriter transaction = new ProtoWriter().message(1, unchanged).message(2, operation);
    int server = current.get();
    try {
      byte[] answer = EtcdCall.TXN.call(channels.get(server), transaction.toByteArray(), DEADLINE);
      return ProtoMessage.parse(answer).number(2) == 1;
    } catch (StatusRuntimeException e) {
      // Not repeated: a repetition of what was carried out would be told to have come too late.
      leave(server);
      throw told(e);
    }
  }

  @Override
  public void close() {
    channels.forEach(ManagedChannel::shutdownNow);
    for (ManagedChannel channel : channels) {
      try {
        if (!channel.awaitTermination(CLOSE_MILLIS, TimeUnit.MILLISECONDS)) {
          return;
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }
}
