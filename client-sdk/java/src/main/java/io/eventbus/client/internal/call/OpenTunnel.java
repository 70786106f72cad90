package io.eventbus.client.internal.call;

import io.eventbus.client.Event;
import io.eventbus.client.EventBusException;
import io.eventbus.client.EventBusException.CallFailed;
import io.eventbus.client.Execution;
import io.eventbus.client.Tunnel;
import io.eventbus.client.TunnelOptions;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.DataView;
import io.eventbus.protocol.TunnelFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Cancel;
import io.eventbus.schema.Failure;
import io.eventbus.schema.FailureCode;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/** End of an open stream or tunnel. Any thread may use it. */
final class OpenTunnel implements Tunnel {
  final ReceivedInvocation.Target target;
  private final CallHost host;
  private final Tunnels tunnels;
  private final String service;
  private final Event opening;
  private final TunnelOptions options;
  private final TunnelInput input;
  private final TunnelOutput output;
  private final CompletableFuture<Void> closed = new CompletableFuture<>();

  /** Creates an end; the other end accepts {@code limit} at first. */
  OpenTunnel(
      CallHost host,
      Tunnels tunnels,
      ReceivedInvocation.Target target,
      String service,
      Event opening,
      TunnelOptions options,
      long limit) {
    this.host = host;
    this.tunnels = tunnels;
    this.target = target;
    this.service = service;
    this.opening = opening;
    this.options = options;
    this.input = new TunnelInput(options);
    this.output = new TunnelOutput(target.path(), target.call(), limit, options.bufferBytes());
    output.onWritten(this::onWritten);
  }

  TunnelInput input() {
    return input;
  }

  TunnelOptions options() {
    return options;
  }

  CallHost host() {
    return host;
  }

  // ---- For the application

  @Override
  public String service() {
    return service;
  }

  @Override
  public Event opening() {
    return opening;
  }

  @Override
  public CompletionStage<Void> send(byte[] message) {
    TunnelOutput.Taken taken = output.take(message);
    if (taken.send()) {
      host.send(output, true);
    }
    return taken.room();
  }

  void awaitRoom() throws InterruptedException {
    output.awaitRoom();
  }

  @Override
  public Flow.Publisher<byte[]> messages() {
    return new TunnelMessages(this);
  }

  @Override
  public InputStream asInputStream() {
    return new TunnelStreams.In(this);
  }

  @Override
  public OutputStream asOutputStream() {
    return new TunnelStreams.Out(this);
  }

  @Override
  public void closeOutput() {
    if (output.close()) {
      host.send(output, true);
    }
  }

  @Override
  public void reset(String type, String message) {
    CallFailed.Rejected why = CallFailed.Rejected.failed(type, message, new byte[0]);
    end(why, CallFailures.of(why));
  }

  @Override
  public CompletionStage<Void> closed() {
    return closed.minimalCompletionStage();
  }

  @Override
  public void close() {
    end(
        new CallFailed.Cancelled("the tunnel was closed here", Execution.YES, false),
        CallFailures.of(FailureCode.CANCELLED, "the other end has closed it", Execution.YES));
  }

  // ---- For this package

  /** Ends it with a failure behind what waits, for the other end. */
  void endBehind(CallFailed why, Failure failure) {
    if (output.endWith(CallFailures.frame(target.path(), target.call(), failure))) {
      end(why, failure);
    }
  }

  /** Ends it with a failure for the other end. */
  void end(EventBusException why, Failure failure) {
    if (tunnels.remove(this)) {
      host.send(frame(failure), true);
      fail(why);
    }
  }

  private CallFrame frame(Failure failure) {
    if (target.call() > 0 && failure.getCode() == FailureCode.CANCELLED) {
      return new BytesFrame(
          target.path(),
          ControlFrames.encode(TypeCode.CANCEL, new Cancel(target.call(), "closed")));
    }
    return CallFailures.frame(target.path(), target.call(), failure);
  }

  /** Ends it; the other end knows already. */
  void fail(EventBusException why) {
    input.fail(why);
    CompletableFuture<Void> room = output.fail(why);
    host.fail(
        () -> {
          if (room != null) {
            room.completeExceptionally(why);
          }
          closed.completeExceptionally(why);
        });
  }

  /** Takes a frame that has come, on the connection's thread. */
  void data(DataView data, ByteBuffer message) {
    String problem = input.add(data, message);
    if (problem != null) {
      end(
          new CallFailed.NotServed(
              io.eventbus.client.ErrorCode.INTERNAL, problem, Execution.UNKNOWN, false),
          CallFailures.of(FailureCode.INTERNAL, problem, Execution.UNKNOWN));
      return;
    }
    endIfDone();
  }

  /** Takes credit from the other end, on the connection's thread. */
  void credit(long limit, long received) {
    if (output.credit(limit, received)) {
      host.send(output, false);
    }
  }

  /** Grants the other end credit if that is due, because something was read. */
  void onRead(boolean here) {
    TunnelInput.Credit credit = input.takeCredit();
    if (credit != null) {
      ByteBuffer frame = ByteBuffer.allocate(TunnelFrames.MAX_HEAD);
      TunnelFrames.writeCredit(frame, target.call(), credit.limit(), credit.received());
      byte[] bytes = new byte[frame.flip().remaining()];
      frame.get(bytes);
      host.send(new BytesFrame(target.path(), bytes), here);
    }
  }

  /** Called when a frame was written, under the lock of the outbox. */
  private void onWritten() {
    host.schedule(this::afterWrite, 0);
  }

  private void afterWrite() {
    CompletableFuture<Void> room = output.takeRoom();
    if (room != null) {
      host.complete(() -> room.complete(null));
    }
    CallFrame ending = output.takeEnding();
    if (ending != null && tunnels.remove(this)) {
      host.send(ending, false);
      fail(new CallFailed.Cancelled("this end has failed", Execution.YES, false));
    }
    endIfDone();
  }

  private void endIfDone() {
    if (output.hasSentLast() && input.hasEnded() && tunnels.remove(this)) {
      host.complete(() -> closed.complete(null));
    }
  }

  /** Closes the output of an end that sends nothing, as the caller of a stream. */
  void disableOutput() {
    output.endSilently();
  }

  /** Closes the input of an end that receives nothing, as the caller of a stream. */
  void disableInput() {
    input.endSilently();
  }

  @Override
  public String toString() {
    return "Tunnel[" + service + ", " + target.call() + "]";
  }

  /**
   * Returns the failure that has ended it; null while it is open or if it has ended as it should.
   */
  @Nullable EventBusException failure() {
    return input.failure();
  }
}
