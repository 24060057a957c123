#pragma once

int half();
