package io.eventbus.loadtest.coordination.etcd;

import io.eventbus.loadtest.coordination.CoordinationClient;
import io.eventbus.loadtest.coordination.CoordinationException;
import io.eventbus.loadtest.coordination.Put;
import io.eventbus.loadtest.coordination.Register;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A client with a connection to one server, and to the next one when that does not answer. A
 * register is a key; writes are unconditional.
 */
final class EtcdWriter implements CoordinationClient {
  /** A server that has lost its leader answers late or never: then the next one is asked. */
  private static final Duration DEADLINE = Duration.ofSeconds(1);

  private static final int CLOSE_MILLIS = 500;

  private final List<ManagedChannel> channels;
  private final AtomicInteger current;

  EtcdWriter(List<Integer> ports, int number) {
    this.channels = ports.stream().map(EtcdWriter::channel).toList();
    this.current = new AtomicInteger(number % ports.size());
  }

  /** It connects at the first call only. */
  static ManagedChannel channel(int port) {
    return NettyChannelBuilder.forAddress(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
        .usePlaintext()
        .directExecutor()
        .build();
  }

  private byte[] call(EtcdCall call, ProtoWriter request) {
    int server = current.get();
    try {
      return call.call(channels.get(server), request.toByteArray(), DEADLINE);
    } catch (StatusRuntimeException e) {
      throw told(server, e);
    }
  }

  private CoordinationException told(int server, Throwable error) {
    current.compareAndSet(server, (server + 1) % channels.size());
    Throwable cause =
        error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
    return new CoordinationException(Status.fromThrowable(cause).getCode().name(), cause);
  }

  private static ProtoWriter put(String register, String value) {
    return new ProtoWriter().text(1, register).text(2, value);
  }

  @Override
  public void create(String register, String value) {
    call(EtcdCall.PUT, put(register, value));
  }

  @Override
  public void write(Put put) {
    call(EtcdCall.PUT, put(put.register(), put.value()));
  }

  @Override
  public CompletableFuture<Void> writeLater(Put put) {
    int server = current.get();
    return EtcdCall.PUT
        .callLater(channels.get(server), put(put.register(), put.value()).toByteArray(), DEADLINE)
        .handle(
            (answer, error) -> {
              if (error != null) {
                throw told(server, error);
              }
              return null;
            });
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
    return ProtoMessage.parse(call(EtcdCall.TXN, transaction)).number(2) == 1;
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
