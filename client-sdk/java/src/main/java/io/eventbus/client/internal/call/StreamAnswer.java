package io.eventbus.client.internal.call;

import io.eventbus.client.Event;
import io.eventbus.client.EventBusException.CallFailed;
import io.eventbus.protocol.CallFrames;
import java.nio.ByteBuffer;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/** Subscriber that sends the events of a handler as fast as the caller accepts them. */
final class StreamAnswer implements Flow.Subscriber<Event> {
  private final CallHost host;
  private final OpenTunnel tunnel;
  private final ReceivedInvocation invocation;
  private volatile Flow.@Nullable Subscription subscription;

  StreamAnswer(CallHost host, OpenTunnel tunnel, ReceivedInvocation invocation) {
    this.host = host;
    this.tunnel = tunnel;
    this.invocation = invocation;
  }

  @Override
  public void onSubscribe(Flow.Subscription of) {
    subscription = of;
    tunnel
        .closed()
        .whenComplete(
            (ok, failure) -> {
              if (failure != null) {
                of.cancel();
              }
            });
    of.request(1);
  }

  @Override
  public void onNext(Event event) {
    byte[] message;
    try {
      message = message(host.encode(event));
    } catch (RuntimeException e) {
      cancel();
      onError(e);
      return;
    }
    tunnel
        .send(message)
        .whenComplete(
            (ok, failure) -> {
              Flow.Subscription of = subscription;
              if (of != null && failure == null) {
                of.request(1);
              } else {
                cancel();
              }
            });
  }

  private static byte[] message(Body body) {
    ByteBuffer message =
        ByteBuffer.allocate(CallFrames.replyTailSize(body.fingerprint(), body.bytes()));
    CallFrames.writeReplySchema(message, body.fingerprint());
    body.write(message);
    return message.array();
  }

  private void cancel() {
    Flow.Subscription of = subscription;
    if (of != null) {
      of.cancel();
    }
  }

  @Override
  public void onError(Throwable thrown) {
    CallFailed.Rejected why;
    if (thrown instanceof CallFailed.Rejected rejected) {
      why = rejected;
    } else {
      host.handlerFailed(invocation, thrown);
      why = TunnelService.failed(thrown);
    }
    tunnel.endBehind(why, CallFailures.of(why));
  }

  @Override
  public void onComplete() {
    tunnel.closeOutput();
  }
}
