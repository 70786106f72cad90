package io.eventbus.server.federation.call;

import io.eventbus.server.call.PeerDemand;
import io.eventbus.server.call.ServiceKey;
import io.eventbus.server.call.ServiceMember;
import org.jspecify.annotations.Nullable;

/** A service that another bus serves. Confined to the loop. */
final class FarService {
  final ServiceKey key;
  @Nullable ServiceMember member;

  /** How many calls may be open there; 0 if the bus has said that nobody serves it. */
  int grant = PeerDemand.FIRST_GRANT;

  FarService(ServiceKey key) {
    this.key = key;
  }
}
