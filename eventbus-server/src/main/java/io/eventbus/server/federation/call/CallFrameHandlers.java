package io.eventbus.server.federation.call;

import io.eventbus.server.federation.lane.LaneFrameTable;
import io.eventbus.server.federation.protocol.BusCallFrames;
import io.eventbus.server.federation.protocol.PeerFrames;

/**
 * Handlers of the numbered frames of a stream of calls: a line for each type, for each direction.
 * {@link PeerCallStream} and {@link InboundCallStream} handle other frames themselves.
 */
final class CallFrameHandlers {
  /** Frames of the bus that has opened a stream. */
  static final LaneFrameTable<InboundCallStream> FROM_OPENER =
      new LaneFrameTable<InboundCallStream>()
          .with(
              PeerFrames.CALL,
              (stream, in, from, to) -> {
                stream.onCall(in, from, to);
                return true;
              })
          .with(
              PeerFrames.STOP,
              (stream, in, from, to) -> {
                stream.onStop(BusCallFrames.stop(in, from, to));
                return true;
              })
          .with(
              PeerFrames.DEMAND,
              (stream, in, from, to) -> {
                stream.onDemand(BusCallFrames.demand(in, from, to));
                return true;
              });

  /** Frames of the bus that has accepted it. */
  static final LaneFrameTable<PeerReplies> FROM_ACCEPTOR =
      new LaneFrameTable<PeerReplies>()
          .with(
              PeerFrames.RETURN,
              (replies, in, from, to) -> {
                replies.onReturn(in, from, to);
                return true;
              })
          .with(
              PeerFrames.FAIL,
              (replies, in, from, to) -> {
                replies.onFail(in, from, to);
                return true;
              })
          .with(
              PeerFrames.BUSY,
              (replies, in, from, to) -> {
                replies.onBusy(in, from, to);
                return true;
              })
          .with(
              PeerFrames.GRANT,
              (replies, in, from, to) -> {
                replies.onGrant(BusCallFrames.grant(in, from, to));
                return true;
              });

  private CallFrameHandlers() {}
}
