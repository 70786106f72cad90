package io.eventbus.server.federation.call;

import io.eventbus.server.call.PeerDemand;
import io.eventbus.server.call.ServiceKey;
import io.eventbus.server.call.ServiceMember;
import org.jspecify.annotations.Nullable;

/** Service that a peer serves. Confined to the loop. */
final class ServiceGrant {
  final ServiceKey key;
  @Nullable ServiceMember member;

  /** Calls that may be open there; 0 if the service has no members there. */
  int grant = PeerDemand.FIRST_GRANT;

  ServiceGrant(ServiceKey key) {
    this.key = key;
  }
}
