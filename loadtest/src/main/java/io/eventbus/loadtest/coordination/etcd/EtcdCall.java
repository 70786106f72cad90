package io.eventbus.loadtest.coordination.etcd;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.MethodDescriptor;
import io.grpc.stub.ClientCalls;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** The calls of etcd's gRPC interface that the load test makes; messages are bytes. */
final class EtcdCall {
  static final EtcdCall PUT = new EtcdCall("etcdserverpb.KV/Put");
  static final EtcdCall RANGE = new EtcdCall("etcdserverpb.KV/Range");
  static final EtcdCall TXN = new EtcdCall("etcdserverpb.KV/Txn");
  static final EtcdCall STATUS = new EtcdCall("etcdserverpb.Maintenance/Status");

  private final MethodDescriptor<byte[], byte[]> method;

  private EtcdCall(String name) {
    this.method =
        MethodDescriptor.<byte[], byte[]>newBuilder()
            .setType(MethodDescriptor.MethodType.UNARY)
            .setFullMethodName(name)
            .setRequestMarshaller(new Bytes())
            .setResponseMarshaller(new Bytes())
            .build();
  }

  byte[] call(Channel channel, byte[] request, Duration deadline) {
    return ClientCalls.blockingUnaryCall(channel, method, options(deadline), request);
  }

  private static CallOptions options(Duration deadline) {
    return CallOptions.DEFAULT.withDeadlineAfter(deadline.toNanos(), TimeUnit.NANOSECONDS);
  }

  private static final class Bytes implements MethodDescriptor.Marshaller<byte[]> {
    @Override
    public InputStream stream(byte[] value) {
      return new ByteArrayInputStream(value);
    }

    @Override
    public byte[] parse(InputStream stream) {
      try {
        return stream.readAllBytes();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
