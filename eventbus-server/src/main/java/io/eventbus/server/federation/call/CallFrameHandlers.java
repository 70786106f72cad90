package io.eventbus.server.federation.call;

import io.eventbus.link.stream.FrameTable;
import io.eventbus.server.federation.protocol.BusCallFrames;
import io.eventbus.server.federation.protocol.PeerFrames;

/**
 * Handlers of the numbered frames of a stream of calls: a line for each type, for each direction.
 * {@link PeerCallStream} and {@link InboundCallStream} handle other frames themselves.
 */
final class CallFrameHandlers {
  /** Frames of the bus that has opened a stream. */
  static final FrameTable<InboundCallStream> FROM_OPENER =
      new FrameTable<InboundCallStream>()
          .always(PeerFrames.CALL, (stream, in, from, to) -> stream.onCall(in, from, to))
          .always(
              PeerFrames.STOP,
              (stream, in, from, to) -> stream.onStop(BusCallFrames.stop(in, from, to)))
          .always(
              PeerFrames.DEMAND,
              (stream, in, from, to) -> stream.onDemand(BusCallFrames.demand(in, from, to)));

  /** Frames of the bus that has accepted it. */
  static final FrameTable<PeerReplies> FROM_ACCEPTOR =
      new FrameTable<PeerReplies>()
          .always(PeerFrames.RETURN, (replies, in, from, to) -> replies.onReturn(in, from, to))
          .always(PeerFrames.FAIL, (replies, in, from, to) -> replies.onFail(in, from, to))
          .always(PeerFrames.BUSY, (replies, in, from, to) -> replies.onBusy(in, from, to))
          .always(
              PeerFrames.GRANT,
              (replies, in, from, to) -> replies.onGrant(BusCallFrames.grant(in, from, to)));

  private CallFrameHandlers() {}
}
