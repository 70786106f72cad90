/** Judges what attacks came to, and writes it down. */
package io.eventbus.loadtest.attack.report;
