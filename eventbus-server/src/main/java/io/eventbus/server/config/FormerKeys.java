package io.eventbus.server.config;

import java.util.Map;

/** Former names of renamed keys. Version 0.2.0 removes this table. */
final class FormerKeys {
  static final String REMOVAL = "0.2.0";

  static final Map<String, ConfigKey> BY_NAME =
      Map.ofEntries(
          Map.entry("balance.drain", ConfigKey.BALANCE_DRAIN_TIMEOUT),
          Map.entry("balance.hops", ConfigKey.BALANCE_MAX_MOVES_PER_MINUTE),
          Map.entry("balance.sustain", ConfigKey.BALANCE_OVERLOAD_AFTER),
          Map.entry("federation.confirm", ConfigKey.FEDERATION_SYNC_TIMEOUT),
          Map.entry("federation.give-up", ConfigKey.FEDERATION_PEER_TIMEOUT),
          Map.entry("federation.silence", ConfigKey.FEDERATION_KEEPALIVE_TIMEOUT),
          Map.entry("limits.address-percent", ConfigKey.LIMITS_ADDRESS_MEMORY_PERCENT),
          Map.entry("limits.bulk-bytes", ConfigKey.LIMITS_TUNNEL_BUFFER_BYTES),
          Map.entry("services.gather", ConfigKey.SERVICES_MAX_GATHER_MEMBERS),
          Map.entry("timeouts.block-hold", ConfigKey.LIMITS_BLOCK_STALL_TIME));

  private FormerKeys() {}
}
