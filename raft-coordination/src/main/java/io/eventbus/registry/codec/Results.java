package io.eventbus.registry.codec;

import io.eventbus.registry.BusId;
import io.eventbus.registry.BusState;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.RegistryRefusalReason;
import io.eventbus.registry.schema.BusRegisteredData;
import io.eventbus.registry.schema.BusRemovedData;
import io.eventbus.registry.schema.BusStateChangedData;
import io.eventbus.registry.schema.LeaseRenewedData;
import io.eventbus.registry.schema.LeasesExpiredData;
import io.eventbus.registry.schema.RefusedData;
import io.eventbus.registry.schema.ResultData;
import io.eventbus.registry.schema.RevocationLiftedData;
import io.eventbus.registry.schema.RevocationsExpiredData;
import io.eventbus.registry.schema.ShardPlacedData;
import io.eventbus.registry.schema.SubjectRevokedData;
import io.eventbus.registry.schema.TopicChangedData;
import io.eventbus.registry.schema.TopicCreatedData;
import io.eventbus.registry.schema.TopicDeletedData;
import java.util.EnumSet;
import java.util.Set;

/** Conversion between results and their records. */
final class Results {
  private static final Set<RegistryRefusalReason> OF_FORMAT_2 =
      EnumSet.of(
          RegistryRefusalReason.TOO_MANY_REVOCATIONS,
          RegistryRefusalReason.UNKNOWN_REVOCATION,
          RegistryRefusalReason.BUSES_TOO_OLD);
  private static final Set<RegistryRefusalReason> OF_FORMAT_3 =
      EnumSet.of(RegistryRefusalReason.STALE_SHARD, RegistryRefusalReason.STORAGE_DIFFERS);

  private Results() {}

  static ResultData data(CommandResult result) {
    return new ResultData(result.version(), outcome(result));
  }

  static CommandResult value(ResultData data) {
    long version = data.getVersion();
    if (version < 0) {
      throw new IllegalArgumentException("version: " + version + " (expected: >= 0)");
    }
    Object outcome = data.getOutcome();
    if (outcome instanceof BusRegisteredData d) {
      return new CommandResult.BusRegistered(
          version, d.getNumber(), d.getEpoch(), d.getLeaseExpiresAtMillis());
    }
    if (outcome instanceof BusStateChangedData d) {
      return new CommandResult.BusStateChanged(
          version, BusState.valueOf(d.getFrom()), BusState.valueOf(d.getTo()));
    }
    if (outcome instanceof LeaseRenewedData d) {
      return new CommandResult.LeaseRenewed(version, d.getExpiresAtMillis());
    }
    if (outcome instanceof LeasesExpiredData d) {
      return new CommandResult.LeasesExpired(
          version, d.getBuses().stream().map(BusId::new).toList());
    }
    if (outcome instanceof BusRemovedData) {
      return new CommandResult.BusRemoved(version);
    }
    if (outcome instanceof TopicCreatedData) {
      return new CommandResult.TopicCreated(version);
    }
    if (outcome instanceof TopicChangedData) {
      return new CommandResult.TopicChanged(version);
    }
    if (outcome instanceof TopicDeletedData) {
      return new CommandResult.TopicDeleted(version);
    }
    if (outcome instanceof SubjectRevokedData d) {
      return new CommandResult.SubjectRevoked(
          version, d.getIssuedBeforeMillis(), d.getExpiresAtMillis());
    }
    if (outcome instanceof RevocationLiftedData) {
      return new CommandResult.RevocationLifted(version);
    }
    if (outcome instanceof RevocationsExpiredData d) {
      return new CommandResult.RevocationsExpired(version, d.getCount());
    }
    if (outcome instanceof ShardPlacedData) {
      return new CommandResult.ShardPlaced(version);
    }
    if (outcome instanceof RefusedData d) {
      return new CommandResult.Refused(
          version, RegistryRefusalReason.valueOf(d.getReason()), d.getMessage());
    }
    throw new IllegalArgumentException("outcome: " + outcome.getClass().getSimpleName());
  }

  /** Returns the first format that has such a result. */
  static int format(CommandResult result) {
    if (result instanceof CommandResult.Refused refused) {
      return OF_FORMAT_3.contains(refused.reason())
          ? 3
          : OF_FORMAT_2.contains(refused.reason()) ? 2 : 1;
    }
    if (result instanceof CommandResult.ShardPlaced) {
      return 3;
    }
    boolean later =
        result instanceof CommandResult.SubjectRevoked
            || result instanceof CommandResult.RevocationLifted
            || result instanceof CommandResult.RevocationsExpired;
    return later ? 2 : 1;
  }

  private static Object outcome(CommandResult result) {
    if (result instanceof CommandResult.BusRegistered r) {
      return new BusRegisteredData(r.number(), r.epoch(), r.leaseExpiresAtMillis());
    }
    if (result instanceof CommandResult.BusStateChanged r) {
      return new BusStateChangedData(r.from().name(), r.to().name());
    }
    if (result instanceof CommandResult.LeaseRenewed r) {
      return new LeaseRenewedData(r.expiresAtMillis());
    }
    if (result instanceof CommandResult.LeasesExpired r) {
      return new LeasesExpiredData(r.buses().stream().map(BusId::value).toList());
    }
    if (result instanceof CommandResult.BusRemoved) {
      return new BusRemovedData();
    }
    if (result instanceof CommandResult.TopicCreated) {
      return new TopicCreatedData();
    }
    if (result instanceof CommandResult.TopicChanged) {
      return new TopicChangedData();
    }
    if (result instanceof CommandResult.TopicDeleted) {
      return new TopicDeletedData();
    }
    if (result instanceof CommandResult.SubjectRevoked r) {
      return new SubjectRevokedData(r.issuedBeforeMillis(), r.expiresAtMillis());
    }
    if (result instanceof CommandResult.RevocationLifted) {
      return new RevocationLiftedData();
    }
    if (result instanceof CommandResult.RevocationsExpired r) {
      return new RevocationsExpiredData(r.count());
    }
    if (result instanceof CommandResult.ShardPlaced) {
      return new ShardPlacedData();
    }
    if (result instanceof CommandResult.Refused r) {
      return new RefusedData(r.reason().name(), r.message());
    }
    throw new AssertionError("sealed: " + result.getClass());
  }
}
