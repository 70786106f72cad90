package io.eventbus.client.internal.call;

import io.eventbus.client.EventBusException;
import io.eventbus.client.EventBusException.CallFailed;
import io.eventbus.protocol.DataView;
import io.eventbus.schema.Failure;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Open streams and tunnels of one client, over all its connections. Any thread. */
final class Tunnels {
  private final Map<ReceivedInvocation.Target, OpenTunnel> open = new ConcurrentHashMap<>();

  void add(OpenTunnel tunnel) {
    open.put(tunnel.target, tunnel);
  }

  /** Removes one that has ended; returns whether it was still here. */
  boolean remove(OpenTunnel tunnel) {
    return open.remove(tunnel.target, tunnel);
  }

  boolean isOpen(OpenTunnel tunnel) {
    return open.get(tunnel.target) == tunnel;
  }

  void data(DataView data, ByteBuffer message, CallPath path) {
    OpenTunnel tunnel = open.get(new ReceivedInvocation.Target(path, data.call()));
    if (tunnel != null) {
      tunnel.data(data, message);
    }
  }

  void credit(DataView credit, CallPath path) {
    OpenTunnel tunnel = open.get(new ReceivedInvocation.Target(path, credit.call()));
    if (tunnel != null) {
      tunnel.credit(credit.limit(), credit.received());
    }
  }

  /** Ends one that the other end has failed. */
  void failed(Failure failure, CallPath path) {
    OpenTunnel tunnel = remove(path, failure.getCall());
    if (tunnel != null) {
      tunnel.fail(CallFailures.seen(tunnel.service(), failure, false));
    }
  }

  /** Ends one that the caller, or the bus in its place, has cancelled. */
  void cancelled(long call, String reason, CallPath path) {
    OpenTunnel tunnel = remove(path, call);
    if (tunnel != null) {
      tunnel.fail(
          new CallFailed.Cancelled(
              "the caller has ended the tunnel: " + reason,
              io.eventbus.client.Execution.YES,
              false));
    }
  }

  private @Nullable OpenTunnel remove(CallPath path, long call) {
    return open.remove(new ReceivedInvocation.Target(path, call));
  }

  /** Ends those of a connection that is lost or given up. */
  void lost(CallPath path) {
    for (OpenTunnel tunnel : new ArrayList<>(open.values())) {
      if (tunnel.target.path() == path && remove(tunnel)) {
        tunnel.fail(
            new CallFailed.BusLost(
                "the connection with the tunnel of " + tunnel.service() + " was lost"));
      }
    }
  }

  boolean isQuiet(CallPath path) {
    return open.keySet().stream().noneMatch(target -> target.path() == path);
  }

  /** Ends all with the client. */
  void close(EventBusException why) {
    for (OpenTunnel tunnel : new ArrayList<>(open.values())) {
      if (remove(tunnel)) {
        tunnel.fail(why);
      }
    }
  }
}
