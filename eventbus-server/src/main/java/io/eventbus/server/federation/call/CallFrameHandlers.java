package io.eventbus.server.federation.call;

import io.eventbus.protocol.BusCallFrames;
import io.eventbus.protocol.PeerFrames;
import io.eventbus.server.federation.lane.LaneFrameTable;

/**
 * The numbered frames of a stream of calls, and what is done with them: a line for each type, for
 * each of the two directions. What else comes is looked at by {@link FarBus} and {@link CallIntake}
 * themselves.
 */
final class CallFrameHandlers {
  /** What the bus that has opened a stream sends. */
  static final LaneFrameTable<CallIntake> OF_INTAKE =
      new LaneFrameTable<CallIntake>()
          .with(
              PeerFrames.CALL,
              (intake, in, from, to) -> {
                intake.onCall(in, from, to);
                return true;
              })
          .with(
              PeerFrames.STOP,
              (intake, in, from, to) -> {
                intake.onStop(BusCallFrames.stop(in, from, to));
                return true;
              })
          .with(
              PeerFrames.DEMAND,
              (intake, in, from, to) -> {
                intake.onDemand(BusCallFrames.demand(in, from, to));
                return true;
              });

  /** What comes back to it. */
  static final LaneFrameTable<FarBus> OF_OPENER =
      new LaneFrameTable<FarBus>()
          .with(
              PeerFrames.RETURN,
              (bus, in, from, to) -> {
                bus.onReturn(in, from, to);
                return true;
              })
          .with(
              PeerFrames.FAIL,
              (bus, in, from, to) -> {
                bus.onFail(in, from, to);
                return true;
              })
          .with(
              PeerFrames.BUSY,
              (bus, in, from, to) -> {
                bus.onBusy(in, from, to);
                return true;
              })
          .with(
              PeerFrames.GRANT,
              (bus, in, from, to) -> {
                bus.onGrant(BusCallFrames.grant(in, from, to));
                return true;
              });

  private CallFrameHandlers() {}
}
