package io.eventbus.server.config;

/** Whether pages may hold publishers back. */
public enum BrowserBlock {
  /** As other clients may. */
  ALLOW,
  /** They may not. */
  REFUSE
}
