package io.eventbus.server;

import io.eventbus.registry.AccountSubject;
import io.eventbus.registry.RegistryChange;
import io.eventbus.registry.RegistryListener;
import io.eventbus.registry.RegistrySnapshot;
import io.eventbus.registry.Revocation;
import io.eventbus.server.advisory.Advisories;
import io.eventbus.server.advisory.Advisory;
import io.eventbus.server.security.RevocationList;
import io.eventbus.server.security.Revocations;
import java.time.Instant;
import java.util.List;

/**
 * Forwarder of revocations from the registry to the bus. A bus that was cut off gets the missed
 * ones like any change. Called by the registry's thread.
 */
final class RegistryRevocations implements RegistryListener {
  private final Revocations revocations;
  private final Advisories advisories;
  private boolean begun;

  RegistryRevocations(Revocations revocations, Advisories advisories) {
    this.revocations = revocations;
    this.advisories = advisories;
  }

  @Override
  public void onSnapshot(RegistrySnapshot snapshot, List<RegistryChange> changes) {
    // The first one comes without changes.
    boolean changed = !begun && !snapshot.revocations().isEmpty();
    begun = true;
    for (RegistryChange change : changes) {
      if (change instanceof RegistryChange.SubjectRevoked revoked) {
        tell(
            revoked.revocation(),
            Instant.ofEpochMilli(revoked.revocation().issuedBeforeMillis()).toString());
        changed = true;
      } else if (change instanceof RegistryChange.RevocationEnded ended) {
        tell(ended.revocation(), "");
        changed = true;
      }
    }
    if (changed) {
      revocations.replace(new InSnapshot(snapshot));
    }
  }

  private void tell(Revocation revocation, String issuedBefore) {
    advisories.tell(
        new Advisory.RevocationChanged(
            revocation.who().account(), revocation.who().subject(), issuedBefore));
  }

  /** Copies nothing: there may be thousands, and a change for each. */
  private record InSnapshot(RegistrySnapshot registry) implements RevocationList {
    @Override
    public boolean covers(String account, String subject, Instant issuedAt) {
      Revocation found = registry.revocation(new AccountSubject(account, subject));
      return found != null && issuedAt.toEpochMilli() < found.issuedBeforeMillis();
    }
  }
}
